package rules

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"qrunner/lists"
	"qrunner/lists/message"
)

// approvalLine is the moderator's password as the first line of a text.
const approvalLine = `(?i)^\s*(?:x-)?approved?[ \t]*:[ \t]*(\S[^\r\n]*?)[ \t]*(?:\r?\n|$)`

// ApprovalLine looks for the moderator's password (want, plain or hashed; empty: there
// is none) in the first line of the first text, and makes the body without it: the line
// goes out of every text, plain or HTML, that starts with it. clean is false if the
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
		text, cut := withoutLine(p, p.Decode(body), line)
		if cut {
			out = slices.Concat(out[:p.Start], p.Encode(text), out[p.End:])
		}
		clean = clean && !strings.Contains(visible(string(text)), visible(password))
	}
	return out, true, clean
}

// firstPassword is what the first line of the first text claims to be the password.
func firstPassword(leaves []*message.Part, body []byte, line *regexp.Regexp) string {
	for _, p := range leaves {
		var text string
		switch p.Type.Media {
		case "text/plain":
			text = string(p.Decode(body))
		case "text/html":
			text = message.ReadHTML(p.Decode(body)).Text
		default:
			continue
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if found := line.FindStringSubmatch(text); found != nil {
			return found[1]
		}
		return ""
	}
	return ""
}

// withoutLine takes the line out of a text; of HTML its letters, wherever markup has put
// them.
func withoutLine(p *message.Part, text []byte, line *regexp.Regexp) ([]byte, bool) {
	if p.Type.Media == "text/html" {
		v := message.ReadHTML(text)
		at := line.FindStringIndex(v.Text)
		if at == nil {
			return text, false
		}
		return v.Cut(text, at[0], at[1]), true
	}
	at := line.FindIndex(text)
	if at == nil {
		return text, false
	}
	return text[at[1]:], true
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

// Cleanse takes the moderator's password out of a message, wherever the rule approved
// would have found it. Whatever leaves us goes through here: copies, archive, digest,
// notices.
func Cleanse(m *message.Message, l *lists.List) {
	m.DelFunc(func(f message.Field) bool {
		return slices.ContainsFunc(ApprovedHeaders, func(n string) bool { return strings.EqualFold(f.Name, n) })
	})
	if body, found, _ := ApprovalLine(m, l.Settings.Text("moderator_password")); found {
		m.SetBody(body)
	}
}
