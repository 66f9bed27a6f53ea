package message

import (
	"bytes"
	"strings"
)

// Limits of RFC 5322 §2.1.1, in octets without CRLF.
const (
	foldAt  = 76  // where a line should end
	maxLine = 998 // where it must
)

// Field is one header field with its folding and line end, or one odd line (then
// Name is empty). Raw is never changed in place.
type Field struct {
	Name string // as written
	Raw  []byte // "Name: value CRLF", verbatim
}

// Value is the field's content: unfolded, without surrounding blanks, not decoded.
func (f Field) Value() string {
	_, raw, _ := bytes.Cut(f.Raw, []byte(":"))
	v := string(bytes.TrimSpace(raw))
	if !strings.ContainsAny(v, "\r\n") {
		return v
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(v)
}

// NewField makes a field, folded at blanks where it is long. CR, LF and NUL in the
// value become blanks.
func NewField(name, value string) Field {
	return Field{Name: name, Raw: []byte(fold(name+":", shortWords(value)))}
}

// OneLine turns CR, LF and NUL into blanks: what has passed here can start no
// header field of its own. Other octets stay, UTF-8 or not.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n\x00") {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c == '\r' || c == '\n' || c == 0 {
			b[i] = ' '
		}
	}
	return string(b)
}

// fold writes head and value in lines of foldAt octets where blanks allow it. Only a
// word that is longer than maxLine is cut. No line is made that is all blank: some
// readers would take it for the end of the header.
func fold(head, value string) string {
	var b strings.Builder
	b.Grow(len(head) + len(value) + len(value)/32 + 8)
	b.WriteString(head)
	col, first := len(head), true
	rest := strings.TrimSpace(OneLine(value))
	for rest != "" {
		word := rest[len(rest)-len(strings.TrimLeft(rest, " \t")):]
		gap := rest[:len(rest)-len(word)]
		if len(gap) != 1 && (first || len(gap) > foldAt) {
			gap = " "
		}
		if i := strings.IndexAny(word, " \t"); i >= 0 {
			word = word[:i]
		}
		rest = strings.TrimLeft(rest, " \t")[len(word):]
		if !first && col+len(gap)+len(word) > foldAt {
			// The last blank of the gap starts the new line, the others stay behind.
			b.WriteString(gap[:len(gap)-1] + "\r\n")
			gap, col = gap[len(gap)-1:], 0
		}
		b.WriteString(gap)
		col += len(gap)
		for col+len(word) > maxLine {
			cut := maxLine - col
			b.WriteString(word[:cut] + "\r\n ")
			word, col = word[cut:], 1
		}
		b.WriteString(word)
		col += len(word)
		first = false
	}
	b.WriteString("\r\n")
	return b.String()
}
