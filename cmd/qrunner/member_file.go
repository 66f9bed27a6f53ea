package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// person is a line of a member file: small, since there may be a million.
type person struct {
	line    int
	address mailaddr.Address
	name    string
}

// fileLine is a line of a member file that was not taken, and why.
type fileLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// memberFile opens a file of members; "" and "-" are standard input.
func (a *app) memberFile(name string) (io.ReadCloser, error) {
	if name == "" || name == "-" {
		return io.NopCloser(a.std.in), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open member file: %w", err)
	}
	return f, nil
}

// maxMemberLine is the longest line of a member file that is read, in octets.
const maxMemberLine = 64 << 10

// readMembers reads one member a line: ADDRESS, Name <ADDRESS>, or ADDRESS, a tab, and the
// name. Byte order marks, CRLF, blank lines and comments are no trouble; text that is not
// UTF-8 is read as Windows-1252. An address that is repeated counts once. bad are the lines
// that are no member's, and the repeated ones.
func readMembers(r io.Reader, tell func(n int)) (out []person, bad []fileLine, err error) {
	bad = []fileLine{}
	first := map[string]int{} // line of a key
	br := bufio.NewReaderSize(r, maxMemberLine)
	for n := 1; ; n++ {
		line, long, err := memberLineOf(br)
		if err == io.EOF {
			return out, bad, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read member file: line %d: %w", n, err)
		}
		if n%1000 == 0 && tell != nil {
			tell(n)
		}
		text := memberText(line)
		if text == "" {
			continue
		}
		addr, name, err := mailbox(text)
		switch {
		case long:
			bad = append(bad, fileLine{n, clipped(text), "the line is too long"})
			continue
		case err != nil:
			bad = append(bad, fileLine{n, clipped(text), err.Error()})
			continue
		}
		if was, again := first[addr.Key()]; again {
			bad = append(bad, fileLine{n, clipped(text), fmt.Sprintf("%s stands in line %d already", addr, was)})
			continue
		}
		first[addr.Key()] = n
		out = append(out, person{n, addr, name})
	}
}

// memberLineOf is the next line; of a longer one than the buffer only the beginning.
func memberLineOf(br *bufio.Reader) (line []byte, long bool, err error) {
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

// memberText is a line without comment, blanks around it, and byte order mark.
func memberText(line []byte) string {
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
