package message

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// Mailbox is one address of an address list.
type Mailbox struct {
	// Name is the display name, decoded; may hold anything that is valid UTF-8.
	Name string
	// Address is null where what stood there is no mail address; Raw says what did.
	Address mailaddr.Address
	Raw     string
}

// Mailboxes reads the address lists of every field of that name, in order. Nobody
// may slip through by being unreadable: an element that is no address yields a
// Mailbox with a null Address.
func (m *Message) Mailboxes(name string) []Mailbox {
	var out []Mailbox
	for _, v := range m.All(name) {
		out = append(out, ParseAddressList(v)...)
	}
	return out
}

// Addresses is the readable addresses of every field of those names, in order.
func (m *Message) Addresses(names ...string) []mailaddr.Address {
	var out []mailaddr.Address
	for _, n := range names {
		for _, b := range m.Mailboxes(n) {
			if !b.Address.Null() {
				out = append(out, b.Address)
			}
		}
	}
	return out
}

// ParseAddressList reads an address list (RFC 5322 §3.4, obsolete forms included).
// Groups are taken apart; an element with several paths in angle brackets yields
// them all; quotes, comments and brackets that are never closed count as text.
func ParseAddressList(value string) []Mailbox {
	s := addressScanner{in: value}
	var out []Mailbox
	for s.pos < len(s.in) {
		out = append(out, s.element()...)
	}
	return out
}

// addressScanner walks over an address list once.
type addressScanner struct {
	in  string
	pos int
	// open has the delimiters that were found never to be closed behind pos.
	open [3]bool
}

// The delimiters that can stay open.
const (
	quote = iota
	comment
	angle
)

// element reads up to the next comma or semicolon outside quotes and brackets.
func (s *addressScanner) element() []Mailbox {
	start := s.pos
	var name, remark, bare strings.Builder
	var paths []string
	for s.pos < len(s.in) {
		c := s.in[s.pos]
		if c == ',' || c == ';' {
			break
		}
		switch {
		case c == '"':
			text := s.quoted()
			name.WriteString(unquote(text))
			bare.WriteString(text)
		case c == '(':
			remark.WriteString(s.comment())
		case c == '<':
			paths = append(paths, s.path())
		case c == ':' && len(paths) == 0: // "group:"
			name.Reset()
			bare.Reset()
			s.pos++
		default:
			n := max(1, wordLen(s.in[s.pos:])) // an encoded-word may hold commas and colons
			name.WriteString(s.in[s.pos : s.pos+n])
			bare.WriteString(s.in[s.pos : s.pos+n])
			s.pos += n
		}
	}
	raw := strings.TrimSpace(s.in[start:s.pos])
	s.pos++
	return mailboxes(raw, strings.TrimSpace(name.String()), strings.TrimSpace(bare.String()), strings.TrimSpace(remark.String()), paths)
}

func mailboxes(raw, name, bare, remark string, paths []string) []Mailbox {
	if len(paths) > 0 {
		out := make([]Mailbox, 0, len(paths))
		for _, p := range paths {
			a, _ := mailaddr.ParsePath(strings.TrimSpace(p))
			out = append(out, Mailbox{Name: DecodeHeader(name), Address: a, Raw: raw})
		}
		return out
	}
	if bare == "" {
		return nil
	}
	a, _ := mailaddr.Parse(bare)
	return []Mailbox{{Name: DecodeHeader(remark), Address: a, Raw: raw}}
}

// quoted reads a quoted string with its quotes, or a quote that stands alone.
func (s *addressScanner) quoted() string {
	return s.until(quote, func(i int) int {
		for i++; i < len(s.in); i++ {
			switch s.in[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return -1
	})
}

// comment reads a comment and gives its text.
func (s *addressScanner) comment() string {
	text := s.until(comment, func(i int) int {
		depth := 0
		for ; i < len(s.in); i++ {
			switch s.in[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return -1
	})
	return strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
}

// path reads what stands between angle brackets. One that is never closed ends at
// the next comma.
func (s *addressScanner) path() string {
	text := s.until(angle, func(i int) int {
		if n := strings.IndexByte(s.in[i:], '>'); n >= 0 {
			return i + n + 1
		}
		return -1
	})
	if strings.HasSuffix(text, ">") {
		return text[1 : len(text)-1]
	}
	rest := s.in[s.pos:]
	if n := strings.IndexByte(rest, ','); n >= 0 {
		rest = rest[:n]
	}
	s.pos += len(rest)
	return rest
}

// until takes the text up to what end finds, or one octet if it finds no end; then
// it need not look again.
func (s *addressScanner) until(kind int, end func(int) int) string {
	start := s.pos
	s.pos++
	if !s.open[kind] {
		if n := end(start); n >= 0 {
			s.pos = n
		} else {
			s.open[kind] = true
		}
	}
	return s.in[start:s.pos]
}

func unquote(s string) string {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] == '\\' && i+1 < len(s)-1 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
