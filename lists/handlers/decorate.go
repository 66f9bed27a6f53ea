package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/personal"
)

// decorate puts the header above the post and the footer under it, and never at the cost
// of the text between them: a plain text takes them if its charset can; a multipart/mixed
// gets parts; all else is wrapped, untouched, into a multipart/mixed. What is signed or
// encrypted is only ever wrapped. A structure that we do not look into (too deep, too many
// parts, signed without parts) gets neither.
//
// Both go into gaps (lists.Gap) of the body. Gaps that are the same for all are filled at
// once, the others when each copy is sent.
func decorate(ctx context.Context, p *lists.Post) error {
	d := decoration{m: p.Message}
	var err error
	if d.header, err = insertionOf(ctx, p, "header"); err != nil {
		return err
	}
	if d.footer, err = insertionOf(ctx, p, "footer"); err != nil {
		return err
	}
	p.Copies.Gaps = d.apply()
	return nil
}

// apply puts header and footer into the message, and fills the gaps that are the same for
// all; the others are left.
func (d *decoration) apply() []lists.Gap {
	if d.header.none() && d.footer.none() {
		return nil
	}
	root, err := d.m.Structure()
	switch {
	case err != nil, strings.HasPrefix(root.Type.Media, "multipart/") && len(root.Parts) == 0:
		return nil
	case root.Type.Media == "text/plain" && d.text():
	case root.Type.Media == "multipart/mixed":
		d.parts(root)
	default:
		d.wrap()
	}
	body, gaps := personal.Flatten(d.m.Body(), d.gaps)
	d.m.SetBody(body)
	return gaps
}

// decoration is a message, what goes above and below its text, and the gaps made for it.
type decoration struct {
	m              *message.Message
	header, footer insertion
	gaps           []lists.Gap
}

// put adds a gap for an insertion at a place in the body.
func (d *decoration) put(i insertion, at int, encoding, charset string) {
	if !i.none() {
		d.gaps = append(d.gaps, lists.Gap{At: at, Encoding: encoding, Charset: charset, Text: i.text})
	}
}

// insertionOf is a setting, or else the template of the site's own, as text for a gap.
func insertionOf(ctx context.Context, p *lists.Post, setting string) (insertion, error) {
	text := expandFor(p.List, p.List.Settings.Text(setting))
	if strings.TrimSpace(text) == "" {
		var err error
		if text, err = ownTemplate(ctx, p, "list:member:regular:"+setting); err != nil {
			return insertion{}, err
		}
	}
	if strings.TrimSpace(text) == "" {
		return insertion{}, nil
	}
	text = strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")+"\n", "\n", "\r\n")
	return insertion{text: text, sample: personal.Sample(text, people(p))}, nil
}

// ownTemplate shows a template to everybody at once: the recipients' variables in it are
// left for each copy to fill, or are empty if the list does not personalise.
func ownTemplate(ctx context.Context, p *lists.Post, name string) (string, error) {
	if p.Template == nil {
		return "", nil
	}
	const open, shut = "\ue000", "\ue001" // nobody writes these
	vars := map[string]string{}
	if p.List.Settings.Text("personalize") != "none" {
		for _, v := range personal.Vars {
			vars[v] = open + v + shut
		}
	}
	text, err := p.Template(ctx, name, vars)
	if err != nil {
		return "", fmt.Errorf("template %s: %w: %w", name, lists.ErrTrouble, err)
	}
	return strings.NewReplacer(open, "${", shut, "}").Replace(personal.Escape(text)), nil
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

// none reports whether there is nothing to put in.
func (i insertion) none() bool { return i.text == "" }

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

// entity appends an insertion as an entity of its own.
func (d *decoration) entity(body []byte, i insertion) []byte {
	charset, encoding := "us-ascii", "7bit"
	if !i.plain() || i.long() {
		charset, encoding = "utf-8", "quoted-printable"
	}
	body = append(body, "Content-Type: text/plain; charset="+charset+"\r\n"+
		"Content-Transfer-Encoding: "+encoding+"\r\n"+
		"Content-Disposition: inline\r\n\r\n"...)
	d.put(i, len(body), encoding, charset)
	return body
}

// footerPart is a text that is the same in all copies as an entity.
func footerPart(text string) []byte {
	var d decoration
	body := d.entity(nil, insertion{text: personal.Escape(text)})
	body, _ = personal.Flatten(body, d.gaps)
	return body
}

// parts adds parts to a multipart/mixed: the header before the first, the footer behind
// the last. The line end before a boundary belongs to the boundary (RFC 2046 §5.1.1): the
// insertion's own is it.
func (d *decoration) parts(root *message.Part) {
	boundary := root.Type.Params["boundary"]
	first, end := root.Parts[0], root.Parts[len(root.Parts)-1].End
	body, start := d.m.Body(), first.Start-len(first.Header.Bytes())
	out := bytes.Clone(body[:start])
	if !d.header.none() {
		out = append(d.entity(out, d.header), "--"+boundary+"\r\n"...)
	}
	out = append(out, body[start:end]...)
	rest := body[end:]
	if len(rest) == 0 { // the closing line is missing
		rest = []byte("\r\n--" + boundary + "--\r\n")
	}
	if !d.footer.none() {
		out = d.entity(append(out, "\r\n--"+boundary+"\r\n"...), d.footer)
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
	}
	d.m.SetBody(append(out, rest...))
}

// wrap makes the message a part of a new multipart/mixed, between header and footer. Its
// Content-* fields go with it, octet for octet. Only a text with lines over the limit is
// encoded for that: no server need take it as it is.
func (d *decoration) wrap() {
	m := d.m
	if strings.HasPrefix(m.ContentType().Media, "text/") && identity(m) && longLine(m.Body()) {
		m.Set("Content-Transfer-Encoding", "quoted-printable")
		m.SetBody(message.QuotedPrintable(m.Body()))
	}
	sum := sha256.Sum256(m.Body())
	boundary := "=_" + hex.EncodeToString(sum[:16]) // no text contains its own hash
	out := []byte("--" + boundary + "\r\n")
	if !d.header.none() {
		out = append(d.entity(out, d.header), "--"+boundary+"\r\n"...)
	}
	m.DelFunc(func(f message.Field) bool {
		if !strings.HasPrefix(strings.ToLower(f.Name), "content-") {
			return false
		}
		out = append(out, bytes.TrimRight(f.Raw, "\r\n")...)
		out = append(out, "\r\n"...)
		return true
	})
	out = append(append(out, "\r\n"...), m.Body()...)
	out = append(out, "\r\n--"+boundary...)
	if !d.footer.none() {
		out = append(d.entity(append(out, "\r\n"...), d.footer), "--"+boundary...)
	}
	out = append(out, "--\r\n"...)
	m.Set("MIME-Version", "1.0")
	m.Set("Content-Type", `multipart/mixed; boundary="`+boundary+`"`)
	if eightBit(out) {
		m.Set("Content-Transfer-Encoding", "8bit") // RFC 2045 §6.4
	}
	m.SetBody(out)
}
