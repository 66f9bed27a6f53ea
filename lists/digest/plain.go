package digest

import (
	"bytes"
	"fmt"
	"strings"

	"qrunner/lists/message"
)

// The lines of RFC 1153 between preamble, messages and trailer.
const (
	afterPreamble = between + between + "----------"
	between       = "------------------------------"
)

// kept are the fields of a message in a plain digest, in the order of RFC 1153.
var kept = []string{"Date", "From", "To", "Cc", "Subject", "Message-ID", "Keywords"}

// Plain makes the digest of RFC 1153: a preamble with the masthead and the topics, the
// posts as text in UTF-8, whatever charset each came in, and a trailer. The footer
// is the last of the enclosed messages. What is no text is left out, with a note.
func (i *Issue) Plain() *message.Message {
	posts := i.messages()
	var b strings.Builder
	for _, text := range []string{i.Masthead, i.Header, i.topics(posts)} {
		if text = preamble(text); text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	b.WriteString(afterPreamble + "\n\n")
	for _, m := range posts {
		enclose(&b, fields(m), i.text(m))
	}
	if footer := body(i.Footer); footer != "" {
		enclose(&b, "Subject: "+i.words().footer+"\n", footer)
	}
	end := "End of " + clean(i.Name())
	b.WriteString(end + "\n" + strings.Repeat("*", len([]rune(end))) + "\n")

	m := i.header("plain")
	text := []byte(strings.ReplaceAll(b.String(), "\n", "\r\n"))
	charset, encoding := "us-ascii", "7bit"
	if eightBit(text) {
		charset, encoding = "utf-8", "8bit"
	}
	if longLine(text) {
		encoding, text = "quoted-printable", message.QuotedPrintable(text)
	}
	m.Set("Content-Type", "text/plain; charset="+charset)
	m.Set("Content-Transfer-Encoding", encoding)
	m.SetBody(text)
	return m
}

// enclose adds a message and the separator behind it.
func enclose(b *strings.Builder, header, text string) {
	fmt.Fprintf(b, "%s\n", header)
	if text != "" {
		fmt.Fprintf(b, "%s\n\n", text)
	}
	fmt.Fprintf(b, "%s\n\n", between)
}

// fields are a message's fields as people read them: those with encoded-words decoded, on
// one line, others as they came, folding and all. Octets that are no UTF-8 are taken for
// Latin-1.
func fields(m *message.Message) string {
	var b strings.Builder
	for _, name := range kept {
		for _, f := range m.Fields() {
			if strings.EqualFold(f.Name, name) {
				b.WriteString(field(f))
				break
			}
		}
	}
	return b.String()
}

// field is a field's lines without any that is blank: that would end the header.
func field(f message.Field) string {
	if text, ok := decoded(f); ok {
		return f.Name + ": " + text + "\n"
	}
	var b strings.Builder
	for line := range strings.Lines(clean(readable(f.Raw))) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// decoded is a field's value without its encoded-words, if it has any. A name that has the
// marks of an address in it once it is decoded stays as it is.
func decoded(f message.Field) (string, bool) {
	raw := oneLine(readable([]byte(f.Value())))
	text := oneLine(message.DecodeHeader(raw))
	switch strings.ToLower(f.Name) {
	case "from", "to", "cc":
		if marks(text) != marks(raw) {
			return "", false
		}
	}
	return text, text != raw && text != ""
}

// marks are the characters of a text that mean something between addresses.
func marks(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>@,;:\"()\\", r) {
			return r
		}
		return -1
	}, s)
}

// preamble is a text of the preamble, which must not look like its end.
func preamble(text string) string {
	return escape(strings.Trim(clean(text), "\n"), afterPreamble, between)
}

// body is a message's text without blank lines around it, and without a line that
// would end the message.
func body(text string) string {
	lines := strings.Split(clean(text), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return escape(strings.Join(lines, "\n"), between)
}

// escape replaces the first character of lines that are exactly a mark with a blank.
func escape(text string, marks ...string) string {
	lines := strings.Split(text, "\n")
	for k, l := range lines {
		for _, m := range marks {
			if l == m {
				lines[k] = " " + l[1:]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// maxLine is the longest line of RFC 5322 §2.1.1, in octets.
const maxLine = 998

func longLine(b []byte) bool {
	for line := range bytes.Lines(b) {
		if len(bytes.TrimRight(line, "\r\n")) > maxLine {
			return true
		}
	}
	return false
}
