package smtpout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"qrunner/queue"
)

// Bounds of a reply. RFC 5321 §4.5.3.1.5 allows lines of 512 octets; we are laxer,
// but not boundless.
const (
	maxReplyLine  = 2048
	maxReplyLines = 128
	maxReplyText  = 1000 // octets kept for logs and reports
)

// errNotSMTP: what the server sent is no SMTP reply, or not one to what we asked.
var errNotSMTP = errors.New("not an SMTP reply")

// answer is a reply as read. Its lines are separated by line feeds and valid until
// the next one is read.
type answer struct {
	code  int
	lines []byte
}

// ok reports 2yz.
func (a answer) ok() bool { return a.code/100 == 2 }

// refused reports 4yz or 5yz.
func (a answer) refused() bool { return a.code/100 == 4 || a.code/100 == 5 }

// readAnswer reads one reply (RFC 5321 §4.2), appending its text to buf. r must hold
// maxReplyLine octets.
func readAnswer(r *bufio.Reader, buf []byte) (answer, error) {
	a := answer{lines: buf}
	for n := 0; n < maxReplyLines; n++ {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return a, fmt.Errorf("%w: line over %d octets", errNotSMTP, maxReplyLine)
		case errors.Is(err, io.EOF) && n+len(line) > 0:
			return a, io.ErrUnexpectedEOF
		case err != nil:
			return a, err
		}
		code, text, more, ok := splitLine(line)
		if !ok || n > 0 && code != a.code {
			return a, fmt.Errorf("%w: %q", errNotSMTP, printable(line))
		}
		if n > 0 {
			a.lines = append(a.lines, '\n')
		}
		a.code, a.lines = code, append(a.lines, text...)
		if !more {
			return a, nil
		}
	}
	return a, fmt.Errorf("%w: over %d lines", errNotSMTP, maxReplyLines)
}

// splitLine takes a reply line apart; the text may be missing.
func splitLine(line []byte) (code int, text []byte, more, ok bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) < 3 || line[0] < '2' || line[0] > '5' || !digit(line[1]) || !digit(line[2]) {
		return 0, nil, false, false
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	if len(line) == 3 {
		return code, nil, false, true
	}
	return code, line[4:], line[3] == '-', line[3] == ' ' || line[3] == '-'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// reply makes the answer one that can be kept.
func (a answer) reply(phase queue.Phase) queue.Reply {
	r := queue.Reply{Code: a.code, Phase: phase}
	var text strings.Builder
	for i, line := range bytes.Split(a.lines, []byte{'\n'}) {
		code, rest := splitEnhanced(line, a.code)
		if i == 0 {
			r.Enhanced = code
		} else {
			text.WriteString(" / ")
		}
		text.WriteString(printable(rest))
	}
	r.Text = printable([]byte(text.String()))
	return r
}

// splitEnhanced takes an enhanced status code (RFC 2034) off the line. One whose
// class is not the reply's is text like any other.
func splitEnhanced(line []byte, code int) (enhanced string, rest []byte) {
	head, rest, _ := bytes.Cut(line, []byte{' '})
	if len(head) < 5 || len(head) > 9 || int(head[0]-'0') != code/100 {
		return "", line
	}
	dots, digits := 0, 0
	for _, c := range head {
		switch {
		case digit(c):
			digits++
		case c == '.' && digits > 0:
			dots, digits = dots+1, 0
		default:
			return "", line
		}
		if digits > 3 {
			return "", line
		}
	}
	if dots != 2 || digits == 0 || head[1] != '.' {
		return "", line
	}
	return string(head), rest
}

// printable is b fit for one line of a log: bounded, valid, without controls.
func printable(b []byte) string {
	if len(b) > maxReplyText {
		b = b[:maxReplyText]
	}
	clean := func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}
	return strings.TrimSpace(strings.Map(clean, strings.ToValidUTF8(string(b), "?")))
}
