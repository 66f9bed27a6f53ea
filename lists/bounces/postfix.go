package bounces

import "strings"

// postfix reads Postfix's text without its report part, and appliances made of it:
// paragraphs that start with the address in brackets.
func postfix(m *mail) []Result {
	if !m.has("mail system at host", "postfix program at host", "to inform you that", "email security gateway at host", "this is the mail system") {
		return nil
	}
	return m.paragraphs()
}

// paragraphs reads paragraphs "<address>: text", indented or not, each behind an empty
// line or at the top.
func (m *mail) paragraphs() []Result {
	for i, l := range m.notice {
		if !m.startsParagraph(i) {
			continue
		}
		if _, _, ok := bracketed(l); ok {
			why := ""
			if i > 0 && introduces(m.notice[i-1]) {
				why = m.notice[i-1]
			}
			return m.results(m.bracketedBlocks(i), why)
		}
	}
	return nil
}

// introduces reports whether a line ends in a colon, of whatever script.
func introduces(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// startsParagraph: nothing stands before line i, or it follows an empty line or an
// introduction, not another line of a paragraph.
func (m *mail) startsParagraph(i int) bool {
	if i == 0 || oneLine(m.notice[i-1]) == "" {
		return true
	}
	prev := oneLine(m.low[i-1])
	return prev[0] != '<' && introduces(prev)
}
