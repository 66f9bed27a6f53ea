package intake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// head is what the top of a piped message says of its sender.
type head struct {
	returnPath string // value of a Return-Path field in the first line
	from       string // sender in an mbox line
}

// readPipe reads a message with local line ends into b, up to the end of the input.
func readPipe(stdin io.Reader, b *body) (head, error) {
	r := bufio.NewReaderSize(stdin, 4*commandLine)
	h, err := readHead(r)
	if err != nil {
		return head{}, err
	}
	last := byte(0)
	for {
		frag, err := r.ReadSlice('\n')
		if len(frag) > 0 {
			addLine(b, frag, last)
			last = frag[len(frag)-1]
		}
		switch {
		case errors.Is(err, io.EOF) && last == '\n':
			return h, nil
		case errors.Is(err, io.EOF) && b.over != nil: // whatever is missing, it is over a limit
			return h, nil
		case errors.Is(err, io.EOF):
			return head{}, fmt.Errorf("%w: standard input is empty or ends in mid-line", errCut)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return head{}, fmt.Errorf("read message: %w", err)
		}
	}
}

// addLine adds a line, or a part of one, with CR LF for a bare LF.
func addLine(b *body, frag []byte, last byte) {
	text, ends := bytes.CutSuffix(frag, []byte("\n"))
	if len(text) > 0 {
		b.add(text)
		last = text[len(text)-1]
	}
	switch {
	case !ends:
	case last == '\r':
		b.add([]byte("\n"))
	default:
		b.add([]byte("\r\n"))
	}
}

// readHead looks at the top of the message and takes an mbox line off.
func readHead(r *bufio.Reader) (head, error) {
	top, err := r.Peek(r.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, fmt.Errorf("read message: %w", err)
	}
	var h head
	line, rest, _ := strings.Cut(string(top), "\n")
	if sender, ok := fromLine(line); ok && len(line) < len(top) {
		h.from = sender
		if _, err := r.Discard(len(line) + 1); err != nil {
			return head{}, fmt.Errorf("read message: %w", err)
		}
		line, _, _ = strings.Cut(rest, "\n")
	}
	const field = "return-path:"
	if len(line) > len(field) && strings.EqualFold(line[:len(field)], field) {
		h.returnPath = strings.TrimSpace(line[len(field):])
	}
	return h, nil
}

// fromLine finds the sender in an mbox line: "From sender date".
func fromLine(line string) (sender string, ok bool) {
	rest, ok := strings.CutPrefix(line, "From ")
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	quoted := false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t' || c == '\r') && !quoted:
			return rest[:i], true
		}
	}
	return rest, true
}
