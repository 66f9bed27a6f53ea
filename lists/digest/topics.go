package digest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"qrunner/lists/message"
)

// topicWidth is where a line of the table of contents ends, in characters.
const topicWidth = 70

// topics is the table of contents: subject and author of each post.
func (i *Issue) topics(posts []*message.Message) string {
	var b strings.Builder
	b.WriteString(i.words().topics + "\n\n")
	for k, m := range posts {
		subject := oneLine(message.DecodeHeader(m.Get("Subject")))
		if subject == "" {
			subject = "(-)"
		}
		b.WriteString(indent(fmt.Sprintf("%4d. ", k+1), subject+author(m)))
	}
	return b.String()
}

// author is the name or address of who wrote the post, in brackets.
func author(m *message.Message) string {
	for _, a := range m.Mailboxes("From") {
		if name := oneLine(a.Name); name != "" {
			return " (" + name + ")"
		}
		if !a.Address.Null() {
			return " (" + string(a.Address) + ")"
		}
	}
	return ""
}

// indent breaks text at blanks and puts the following lines under the first.
func indent(head, text string) string {
	var b strings.Builder
	b.WriteString(head)
	col := len(head)
	for k, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		switch {
		case k > 0 && col+1+n > topicWidth:
			b.WriteString("\n" + strings.Repeat(" ", len(head)))
			col = len(head)
		case k > 0:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(w)
		col += n
	}
	return b.String() + "\n"
}

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }
