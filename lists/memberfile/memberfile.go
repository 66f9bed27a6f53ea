// Package memberfile reads files of members as people and other programs write them.
package memberfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// Person is a line of a member file: small, since there may be a million.
type Person struct {
	Line    int
	Address mailaddr.Address
	Name    string
}

// Bad is a line of a member file that was not taken, and why.
type Bad struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// maxLine is the longest line of a member file that is read, in octets.
const maxLine = 64 << 10

// Read reads one member a line: ADDRESS, Name <ADDRESS>, or ADDRESS, a tab, and the
// name. Byte order marks, CRLF, blank lines and comments are no trouble; text that is not
// UTF-8 is read as Windows-1252. An address that is repeated counts once. bad are the lines
// that are no member's, and the repeated ones. tell, if not nil, is told
// now and then how many lines were read.
func Read(r io.Reader, tell func(n int)) (out []Person, bad []Bad, err error) {
	bad = []Bad{}
	first := map[string]int{} // line of a key
	br := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		line, long, err := lineOf(br)
		if err == io.EOF {
			return out, bad, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read member file: line %d: %w", n, err)
		}
		if n%1000 == 0 && tell != nil {
			tell(n)
		}
		text := textOf(line)
		if text == "" {
			continue
		}
		addr, name, err := mailbox(text)
		switch {
		case long:
			bad = append(bad, Bad{n, clipped(text), "the line is too long"})
			continue
		case err != nil:
			bad = append(bad, Bad{n, clipped(text), err.Error()})
			continue
		}
		if was, again := first[addr.Key()]; again {
			bad = append(bad, Bad{n, clipped(text), fmt.Sprintf("%s stands in line %d already", addr, was)})
			continue
		}
		first[addr.Key()] = n
		out = append(out, Person{n, addr, name})
	}
}

// lineOf is the next line; of a longer one than the buffer only the beginning.
func lineOf(br *bufio.Reader) (line []byte, long bool, err error) {
	line, err = br.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line = bytes.Clone(line)
		for err == bufio.ErrBufferFull {
			_, err = br.ReadSlice('\n')
		}
		long = true
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, long, err
}

// textOf is a line without comment, blanks around it, and byte order mark.
func textOf(line []byte) string {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	text, ok := message.ToUTF8(line, "utf-8")
	if !ok {
		text, _ = message.ToUTF8(line, "windows-1252")
	}
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return strings.TrimSpace(text[:i])
		}
	}
	return strings.TrimSpace(text)
}

// mailbox reads ADDRESS, Name <ADDRESS>, or ADDRESS, a tab, and the name.
func mailbox(text string) (mailaddr.Address, string, error) {
	if !strings.ContainsAny(text, "<\"") {
		addr, name, _ := strings.Cut(text, "\t")
		a, err := mailaddr.Parse(strings.TrimSpace(addr))
		return a, strings.TrimSpace(name), err
	}
	list := message.ParseAddressList(text)
	if len(list) != 1 {
		return "", "", fmt.Errorf("%w: not one address", mailaddr.ErrSyntax)
	}
	return list[0].Address, strings.TrimSpace(list[0].Name), nil
}

// clipped is a text for a report: of one line, not long.
func clipped(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "") + "..."
	}
	return s
}
