package bounces

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
			return m.results(m.bracketedBlocks(i), "")
		}
	}
	return nil
}

// startsParagraph: nothing stands before line i, or it follows an empty line or an
// introduction, not another line of a paragraph.
func (m *mail) startsParagraph(i int) bool {
	if i == 0 || oneLine(m.notice[i-1]) == "" {
		return true
	}
	prev := oneLine(m.low[i-1])
	return prev[0] != '<' && prev[len(prev)-1] == ':'
}
