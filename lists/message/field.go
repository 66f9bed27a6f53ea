package message

import "strings"

// foldAt is where RFC 5322 §2.1.1 would like a line to end.
const foldAt = 76

// NewField makes a field, folded at blanks where it is long.
func NewField(name, value string) Field {
	value = strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, value)
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte(':')
	col := len(name) + 1
	for word := range strings.SplitSeq(strings.TrimSpace(value), " ") {
		if col+1+len(word) > foldAt && col > len(name)+1 {
			b.WriteString("\r\n")
			col = 0
		}
		b.WriteByte(' ')
		b.WriteString(word)
		col += 1 + len(word)
	}
	b.WriteString("\r\n")
	return Field{Name: name, Raw: []byte(b.String())}
}
