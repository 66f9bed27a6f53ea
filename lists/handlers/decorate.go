package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/personal"
)

// decorate puts the footer under the post, and never at the cost of the text above
// it: a plain text takes it at its end if its charset can; a multipart/mixed gets one
// more part; all else is wrapped, untouched, into a multipart/mixed. What is signed
// or encrypted is only ever wrapped. A structure that we do not look into (too deep,
// too many parts, signed without parts) gets no footer.
//
// The footer goes into a gap (lists.Gap) of the body. Gaps that are the same for all are
// filled at once, the others when each copy is sent.
func decorate(_ context.Context, p *lists.Post) error {
	text := expandFor(p.List, p.List.Settings.Text("footer"))
	if strings.TrimSpace(text) == "" {
		return nil
	}
	text = strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")+"\n", "\n", "\r\n")
	footer := insertion{text: text, sample: personal.Sample(text, people(p))}
	m := p.Message
	root, err := m.Structure()
	var gaps []lists.Gap
	switch {
	case err != nil, strings.HasPrefix(root.Type.Media, "multipart/") && len(root.Parts) == 0:
		return nil
	case root.Type.Media == "text/plain" && appendText(m, footer, &gaps):
	case root.Type.Media == "multipart/mixed":
		appendPart(m, root, footer, &gaps)
	default:
		wrap(m, footer, &gaps)
	}
	body, gaps := personal.Flatten(m.Body(), gaps)
	m.SetBody(body)
	p.Copies.Gaps = gaps
	return nil
}

// insertion is text for a gap: as lists.Gap has it, and the characters beyond ASCII that
// the recipients' values bring along.
type insertion struct{ text, sample string }

// fits reports whether a charset has what the text and everybody's values need.
func (i insertion) fits(charset string) bool {
	_, ok := message.FromUTF8(personal.Plain(i.text)+i.sample, charset)
	return ok
}

// long reports whether a line of it may be over the limit.
func (i insertion) long() bool { return longLine([]byte(personal.Widest(i.text))) }

// plain reports whether every copy's is ASCII.
func (i insertion) plain() bool { return i.fits("us-ascii") }

// gap is the insertion at a place in a body.
func (i insertion) gap(at int, encoding, charset string) lists.Gap {
	return lists.Gap{At: at, Encoding: encoding, Charset: charset, Text: i.text}
}

// people are the recipients with their values.
func people(p *lists.Post) func(yield func(*personal.Person) bool) {
	return func(yield func(*personal.Person) bool) {
		for _, r := range p.Recipients {
			person := &personal.Person{Address: r.Address}
			if m, ok := p.List.Roster.ByID(r.Member); ok {
				person.Name = m.Name
			}
			if !yield(person) {
				return
			}
		}
	}
}

// appendEntity appends the footer as an entity of its own.
func (i insertion) appendEntity(body []byte, gaps *[]lists.Gap) []byte {
	charset, encoding := "us-ascii", "7bit"
	if !i.plain() || i.long() {
		charset, encoding = "utf-8", "quoted-printable"
	}
	body = append(body, "Content-Type: text/plain; charset="+charset+"\r\n"+
		"Content-Transfer-Encoding: "+encoding+"\r\n"+
		"Content-Disposition: inline\r\n\r\n"...)
	*gaps = append(*gaps, i.gap(len(body), encoding, charset))
	return body
}

// footerPart is a text that is the same in all copies as an entity.
func footerPart(text string) []byte {
	var gaps []lists.Gap
	body := insertion{text: personal.Escape(text)}.appendEntity(nil, &gaps)
	body, _ = personal.Flatten(body, gaps)
	return body
}

// appendPart adds the footer behind the last part of a multipart/mixed. The line end
// before a boundary belongs to the boundary (RFC 2046 §5.1.1): the footer's own is it.
func appendPart(m *message.Message, root *message.Part, footer insertion, gaps *[]lists.Gap) {
	boundary := root.Type.Params["boundary"]
	body, end := m.Body(), root.Parts[len(root.Parts)-1].End
	out := bytes.Clone(body[:end])
	out = append(out, "\r\n--"+boundary+"\r\n"...)
	out = footer.appendEntity(out, gaps)
	rest := body[end:]
	if len(rest) == 0 { // the closing line is missing
		rest = []byte("\r\n--" + boundary + "--\r\n")
	}
	rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
	m.SetBody(append(out, rest...))
}

// wrap makes the message the first part of a new multipart/mixed and the footer the
// second. Its Content-* fields go with it, octet for octet. Only a text with lines
// over the limit is encoded for that: no server need take it as it is.
func wrap(m *message.Message, footer insertion, gaps *[]lists.Gap) {
	if strings.HasPrefix(m.ContentType().Media, "text/") && identity(m) && longLine(m.Body()) {
		m.Set("Content-Transfer-Encoding", "quoted-printable")
		m.SetBody(message.QuotedPrintable(m.Body()))
	}
	sum := sha256.Sum256(m.Body())
	boundary := "=_" + hex.EncodeToString(sum[:16]) // no text contains its own hash
	out := []byte("--" + boundary + "\r\n")
	m.DelFunc(func(f message.Field) bool {
		if !strings.HasPrefix(strings.ToLower(f.Name), "content-") {
			return false
		}
		out = append(out, bytes.TrimRight(f.Raw, "\r\n")...)
		out = append(out, "\r\n"...)
		return true
	})
	out = append(append(out, "\r\n"...), m.Body()...)
	out = append(out, "\r\n--"+boundary+"\r\n"...)
	out = footer.appendEntity(out, gaps)
	out = append(out, "--"+boundary+"--\r\n"...)
	m.Set("MIME-Version", "1.0")
	m.Set("Content-Type", `multipart/mixed; boundary="`+boundary+`"`)
	if eightBit(out) {
		m.Set("Content-Transfer-Encoding", "8bit") // RFC 2045 §6.4
	}
	m.SetBody(out)
}
