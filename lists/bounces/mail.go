package bounces

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// Limits: a report stands at the head of its message, whatever it drags along.
const (
	maxMessage = 1 << 20   // octets looked at
	maxNotice  = 64 << 10  // octets of text for people
	maxReport  = 256 << 10 // octets of each machine-readable part
)

// mail is a message taken apart once for all detectors.
type mail struct {
	head    *message.Message
	from    mailaddr.Address // null if there is none
	subject string           // decoded, lower case
	// notice is the text for people as UTF-8 lines, without the returned message; low is
	// the same in lower case.
	notice, low []string
	// whole is low as one text; title is the subject.
	whole, title *haystack
	status       []string         // delivery reports (RFC 3464)
	feedback     []string         // feedback reports (RFC 5965)
	mdn          []string         // disposition notifications (RFC 8098)
	original     *message.Message // header of the returned message, nil if there is none
	attached     []byte           // the first attached message
	own          map[string]bool  // keys of addresses that the message went to
}

// read takes a message apart. It never fails.
func read(raw []byte) *mail {
	if len(raw) > maxMessage {
		raw = raw[:maxMessage]
	}
	m := &mail{head: message.Parse(raw)}
	if a := m.head.Addresses("From"); len(a) > 0 {
		m.from = a[0]
	}
	m.subject = strings.ToLower(message.DecodeHeader(m.head.Get("Subject")))
	text := m.parts()
	text, rest := cutOriginal(text)
	if m.original == nil && rest != "" {
		m.attached = []byte(rest)
		m.original = message.Parse(m.attached)
	}
	if text = strings.TrimRight(text, " \t\n"); text != "" {
		m.notice = strings.Split(text, "\n")
	}
	m.title = newHaystack(m.subject)
	m.whole = newHaystack(strings.ToLower(text))
	m.low = strings.Split(m.whole.text, "\n")
	if len(m.low) != len(m.notice) { // lower case that changes line ends: not in any script we know
		m.low = m.notice
	}
	return m
}

// parts sorts the message's leaves and gives the text for people.
func (m *mail) parts() string {
	body := m.head.Body()
	root, err := m.head.Structure()
	if err != nil || len(root.Parts) == 0 && strings.HasPrefix(root.Type.Media, "multipart/") {
		return clipText(loose(body, ""), maxNotice) // no boundary where one was promised
	}
	var plain, html strings.Builder
	for p := range root.Leaves {
		m.leaf(p, body, &plain, &html)
	}
	if strings.TrimSpace(plain.String()) == "" {
		return html.String()
	}
	return plain.String()
}

func (m *mail) leaf(p *message.Part, body []byte, plain, html *strings.Builder) {
	switch p.Type.Media {
	case "message/delivery-status", "message/global-delivery-status", "message/xdelivery-status":
		m.status = append(m.status, clipText(loose(p.Decode(body), "utf-8"), maxReport))
	case "message/feedback-report":
		m.feedback = append(m.feedback, clipText(loose(p.Decode(body), "utf-8"), maxReport))
	case "message/disposition-notification", "message/global-disposition-notification":
		m.mdn = append(m.mdn, clipText(loose(p.Decode(body), "utf-8"), maxReport))
	case "message/rfc822", "message/global", "message/rfc822-headers", "text/rfc822-headers", "message/global-headers",
		"message/partial":
		if m.original == nil {
			m.attached = p.Decode(body)
			m.original = message.Parse(m.attached)
		}
	case "text/html":
		if html.Len() < maxNotice {
			html.WriteString(clipText(stripHTML(m.text(p, body)), maxNotice))
			html.WriteByte('\n')
		}
	default:
		text := strings.HasPrefix(p.Type.Media, "text/") || strings.HasPrefix(p.Type.Media, "multipart/") // a lost boundary
		if text && plain.Len() < maxNotice {
			plain.WriteString(clipText(m.text(p, body), maxNotice))
			plain.WriteByte('\n')
		}
	}
}

// text is a text part as UTF-8, read as well as it can be.
func (m *mail) text(p *message.Part, body []byte) string {
	return loose(p.Decode(body), p.Type.Charset())
}

// addressed reports whether a is the service address that the message went to, or the
// list behind it: a list's own address never bounced.
func (m *mail) addressed(a mailaddr.Address) bool {
	if m.own == nil {
		m.own = map[string]bool{}
		for _, to := range m.recipients() {
			for _, t := range lists.Candidates(to) {
				if t.Sub != lists.SubPost {
					m.own[to.Key()] = true
					m.own[t.List.Address(lists.SubPost).Key()] = true
					m.own[t.List.Address(lists.SubBounces).Key()] = true
				}
			}
		}
	}
	return m.own[a.Key()]
}

// recipients is where the message went, as far as its header says.
func (m *mail) recipients() []mailaddr.Address {
	return m.head.Addresses("X-Original-To", "Delivered-To", "Envelope-To", "To", "Cc")
}

// delayed reports whether the text is a warning only: delivery is still tried.
func (m *mail) delayed() bool {
	return m.whole.any(warnings) || m.title.any(warnings)
}

// warnings are phrases of mail systems that still try.
var warnings = []string{
	"not yet been delivered", "warning message only", "this is a warning only", "still being retried",
	"has been delayed", "could not send message for past", "delivery attempts will continue",
	"temporary failure report", "will be retried", "message is delayed", "is just a warning", "message delayed",
	"status notification (delay)", "gmail will retry",
}

// clipText cuts s to n octets at a line end.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		return s[:i]
	}
	return strings.ToValidUTF8(s, "")
}
