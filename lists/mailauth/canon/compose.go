package canon

import "strings"

// lineLength is where lines of a composed field end, if they can.
const lineLength = 76

// Compose writes a tag list as a header field, folded so that everything but b= has
// the same canonical form whatever b= holds: fresh lines start at tags, h= is folded
// behind colons, and the values of b= anywhere.
func Compose(name string, tags Tags) []byte {
	var b strings.Builder
	b.WriteString(name + ":")
	col := b.Len()
	for i, tag := range tags {
		text := tag.Name + "=" + tag.Value
		if i < len(tags)-1 {
			text += ";"
		}
		// b= always starts a line, so that its length moves nothing.
		if tag.Name == "b" || col+1+len(text) > lineLength {
			b.WriteString("\r\n")
			col = 0
		}
		b.WriteByte(' ')
		col++
		for tag.Name == "b" && col+len(text) > lineLength {
			n := lineLength - col
			b.WriteString(text[:n] + "\r\n ")
			text, col = text[n:], 1
		}
		for tag.Name == "h" && col+len(text) > lineLength {
			n := strings.LastIndexByte(text[:lineLength-col], ':') + 1
			if n <= 0 {
				break
			}
			b.WriteString(text[:n] + "\r\n ")
			text, col = text[n:], 1
		}
		b.WriteString(text)
		col += len(text)
		if tag.Name == "b" {
			col = lineLength // what follows starts a line too
		}
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}
