package handlers

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/personal"
)

// filteredBy marks posts that the content filter changed.
const filteredBy = "X-Content-Filtered-By"

// maxForwards is how deep the filter looks into messages within messages.
const maxForwards = 10

// mimeDelete takes out what the list does not pass on: parts by type and by file name,
// also of forwarded messages, then all but the first of several forms of a text, then
// HTML. What it leaves is there octet for octet. A multipart of which one part is left
// becomes that part.
func mimeDelete(_ context.Context, p *lists.Post) error {
	set := p.List.Settings
	if !set.Bool("filter_content") {
		return nil
	}
	f := contentFilter{
		types: words(set, "filter_types"), pass: words(set, "pass_types"),
		exts: words(set, "filter_extensions"), passExts: words(set, "pass_extensions"),
		collapse: set.Bool("collapse_alternatives"), plain: set.Bool("convert_html_to_plaintext"), gone: new([]string),
	}
	changed, err := f.message(p.Message)
	if err != nil {
		return &lists.Disposal{Handler: "mime-delete", Action: set.Text("filter_action"), Reason: err.Error()}
	}
	p.Message.Del(filteredBy)
	if changed {
		p.Message.Add(filteredBy, "qrunner")
	}
	if len(*f.gone) > 0 && set.Bool("filter_report") {
		report(p.Message, *f.gone)
	}
	return nil
}

// report says below the text what is no longer there.
func report(m *message.Message, gone []string) {
	text := "\r\n[The list took out:\r\n  " + strings.Join(gone, "\r\n  ") + "]\r\n"
	d := decoration{m: m, footer: insertion{text: personal.Escape(text)}}
	d.apply()
}

func words(set *lists.Settings, name string) []string {
	return strings.Fields(strings.ToLower(set.Text(name)))
}

// contentFilter is the list's settings, and where in the message it is.
type contentFilter struct {
	types, pass, exts, passExts []string
	collapse, plain             bool
	forwards                    int // messages around this one
	signed                      int // multipart/signed around this part
	gone                        *[]string
}

// piece is what is left of an entity: its header fields and its content.
type piece struct {
	head    *message.Message
	content []byte
	changed bool
}

// bytes is the entity as a part of a multipart.
func (p piece) bytes() []byte { return append(bytes.Clone(p.head.Bytes()), p.content...) }

// message filters a whole message. The error says why nothing of it may stay.
func (f *contentFilter) message(m *message.Message) (changed bool, err error) {
	root, err := m.Structure()
	if err != nil || f.forwards > maxForwards {
		return false, errors.New("its parts are too many, or too deep, to be looked at")
	}
	if err := f.refuses(root); err != nil {
		return false, err
	}
	left, ok := f.part(m.Body(), root)
	if !ok {
		return false, errors.New("after content filtering, the message was empty")
	}
	if !left.changed {
		return false, nil
	}
	if left.head != m {
		content := func(fd message.Field) bool { return strings.HasPrefix(strings.ToLower(fd.Name), "content-") }
		m.DelFunc(content)
		m.AddFields(slices.DeleteFunc(slices.Clone(left.head.Fields()), func(fd message.Field) bool { return !content(fd) })...)
		left.content = append(bytes.Clone(left.head.Body()), left.content...)
	}
	m.SetBody(left.content)
	return true, nil
}

// refuses says why an entity may not stay, by its type and its file's name.
func (f *contentFilter) refuses(p *message.Part) error {
	media := p.Type.Media
	kind, _, _ := strings.Cut(media, "/")
	in := func(list []string) bool { return slices.Contains(list, media) || slices.Contains(list, kind) }
	switch {
	case in(f.types):
		return errors.New("the content type " + media + " is not allowed")
	case len(f.pass) > 0 && !in(f.pass):
		return errors.New("the content type " + media + " is not among those that are allowed")
	}
	for _, name := range p.Header.FileNames() {
		ext := message.Extension(name)
		switch {
		case ext == "":
		case slices.Contains(f.exts, ext):
			return errors.New("files with the extension ." + ext + " are not allowed")
		case len(f.passExts) > 0 && !slices.Contains(f.passExts, ext):
			return errors.New("files with the extension ." + ext + " are not among those that are allowed")
		}
	}
	return nil
}

// part is what the filter leaves of an entity that may itself stay; false: nothing.
func (f *contentFilter) part(body []byte, p *message.Part) (piece, bool) {
	whole := piece{head: p.Header, content: body[p.Start:p.End]}
	switch {
	case len(p.Parts) > 0:
		return f.multipart(body, p, whole)
	case p.Type.Media == "message/rfc822":
		return f.forwarded(p, whole)
	case p.Type.Media == "text/html" && f.plain && f.signed == 0:
		return fromHTML(body, p), true
	}
	return whole, true
}

// forwarded looks into a message that is a part. RFC 2046 §5.2.1 allows it no transfer
// encoding that would hide it.
func (f *contentFilter) forwarded(p *message.Part, whole piece) (piece, bool) {
	if e := p.Encoding(); e == "base64" || e == "quoted-printable" {
		return piece{}, false
	}
	inner := *f
	inner.forwards++
	m := message.Parse(whole.content)
	changed, err := inner.message(m)
	if err != nil {
		return piece{}, false
	}
	if changed {
		whole.content, whole.changed = m.Bytes(), true
	}
	return whole, true
}

// multipart filters the parts. Signatures over what is no longer there go with it.
func (f *contentFilter) multipart(body []byte, p *message.Part, whole piece) (piece, bool) {
	signed := p.Type.Media == "multipart/signed"
	if signed {
		f.signed++
		defer func() { f.signed-- }()
	}
	left := make([]piece, len(p.Parts)) // head is nil where nothing is left
	var kept []int
	for i, c := range p.Parts {
		if f.refuses(c) != nil {
			whole.changed = true
			f.note(c)
			continue
		}
		got, ok := f.part(body, c)
		if !ok && len(c.Parts) == 0 {
			f.note(c)
		}
		whole.changed = whole.changed || !ok || got.changed
		if ok {
			left[i] = got
			kept = append(kept, i)
		}
	}
	switch {
	case len(kept) == 0:
		return piece{}, false
	case signed && whole.changed && kept[0] == 0:
		kept = kept[:1]
	case p.Type.Media == "multipart/alternative" && f.collapse && f.signed == 0:
		kept = []int{firstText(kept, left)}
		whole.changed = true
	}
	if !whole.changed {
		return whole, true
	}
	if len(kept) == 1 {
		one := left[kept[0]]
		one.changed = true
		return one, true
	}
	whole.content = assemble(body, p, kept, left)
	return whole, true
}

// note remembers a part that goes, for the report.
func (f *contentFilter) note(p *message.Part) {
	const most = 50
	if len(*f.gone) >= most {
		return
	}
	text := p.Type.Media
	if names := p.Header.FileNames(); len(names) > 0 {
		text += ", " + names[0]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + "..."
	}
	*f.gone = append(*f.gone, text)
}

// maxNote is how much of a part's name the report has, in octets.
const maxNote = 100

// firstText is the first form of a text that is not empty.
func firstText(kept []int, left []piece) int {
	for _, i := range kept {
		if len(bytes.TrimSpace(left[i].content)) > 0 {
			return i
		}
	}
	return kept[0]
}

// assemble writes a multipart anew with the delimiter lines, preamble and epilogue that it
// had.
func assemble(body []byte, p *message.Part, kept []int, left []piece) []byte {
	var out []byte
	for n, i := range kept {
		from := p.Start // a delimiter line begins where the part before it ended
		if n > 0 && i > 0 {
			from = p.Parts[i-1].End
		}
		to := p.Parts[i].Start - len(p.Parts[i].Header.Bytes())
		if n == 0 && i > 0 {
			to = p.Parts[0].Start - len(p.Parts[0].Header.Bytes())
		}
		out = append(append(out, body[from:to]...), left[i].bytes()...)
	}
	return append(out, body[p.Parts[len(p.Parts)-1].End:p.End]...)
}
