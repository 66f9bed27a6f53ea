package commands

import (
	"strings"

	"qrunner/lists/message"
)

// Marker is the first line of a notice that is to be answered: what stands below it is
// ours, whether the mail program quoted it or not.
const Marker = "##- Please write your answer above this line -##"

// Text is what a message says: its first text part that is not empty, HTML as it reads;
// without NUL. A quotation in HTML has "> " before each line.
func Text(m *message.Message) string {
	root, err := m.Structure()
	if err != nil {
		return ""
	}
	for p := range root.Leaves {
		if strings.HasPrefix(strings.ToLower(p.Header.Get("Content-Disposition")), "attachment") {
			continue
		}
		var text string
		switch p.Type.Media {
		case "text/plain":
			text = decoded(p, p.Decode(m.Body()))
		case "text/html":
			text = decoded(p, []byte(message.ReadHTML(p.Decode(m.Body())).Text))
		}
		if text = strings.ReplaceAll(text, "\x00", ""); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func decoded(p *message.Part, text []byte) string {
	if s, ok := message.ToUTF8(text, p.Type.Charset()); ok {
		return s
	}
	return strings.ToValidUTF8(string(text), "?")
}

// originals are lines behind which mail programs put the text they answer to without
// quoting it.
var originals = []string{"-----original message-----", "----- original message -----", "-------- original message --------", "________________________________"}

// Own is the lines of a text that its author wrote: not quoted, above the notice that is
// answered, above the signature.
func Own(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(strings.ReplaceAll(line, "\u00a0", " "))
		if strings.Contains(bare, Marker) && !quoted(bare) || line == "-- " || bare == "--" {
			break
		}
		for _, o := range originals {
			if strings.EqualFold(bare, o) {
				return out
			}
		}
		if !quoted(bare) {
			out = append(out, bare)
		}
	}
	return out
}

func quoted(line string) bool { return strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") }
