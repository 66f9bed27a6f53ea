package rules

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"qrunner/lists/message"
)

// approvalLine is the moderator's password as the first line of a text.
const approvalLine = `(?i)^\s*(?:x-)?approved?[ \t]*:[ \t]*(\S[^\r\n]*?)[ \t]*(?:\r?\n|$)`

// ApprovalLine looks for the moderator's password (want, plain or hashed; empty: there
// is none) in the first line of the first plain text, and makes the body without it:
// the line goes out of every text that starts with such a line. clean is false if the
// password can still be read somewhere, markup and encodings apart; such a body must
// not be sent to anybody. Another word than the password is text like any other.
func ApprovalLine(m *message.Message, want string) (body []byte, found, clean bool) {
	body = m.Body()
	root, err := m.Structure()
	if err != nil || want == "" {
		return body, false, true
	}
	line := regexp.MustCompile(approvalLine)
	leaves := slices.Collect(root.Leaves)
	password := firstPassword(leaves, body, line)
	if password == "" || !samePassword(want, password) {
		return body, false, true
	}
	out := body
	clean = true
	for _, p := range slices.Backward(leaves) { // from the end, so that offsets stay right
		if !strings.HasPrefix(p.Type.Media, "text/") {
			continue
		}
		text := p.Decode(body)
		if at := line.FindIndex(text); at != nil {
			text = text[at[1]:]
			out = slices.Concat(out[:p.Start], p.Encode(text), out[p.End:])
		}
		clean = clean && !strings.Contains(visible(string(text)), visible(password))
	}
	return out, true, clean
}

func firstPassword(leaves []*message.Part, body []byte, line *regexp.Regexp) string {
	for _, p := range leaves {
		if p.Type.Media != "text/plain" {
			continue
		}
		if found := line.FindSubmatch(p.Decode(body)); found != nil {
			return string(found[1])
		}
		return ""
	}
	return ""
}

// visible is what a reader could put together from a text: no tags, no blanks.
func visible(text string) string {
	text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
