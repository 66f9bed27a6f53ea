package digest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"qrunner/lists/message"
)

// text is a post as plain text, with a note for each part that is none.
func (i *Issue) text(m *message.Message) string {
	root, err := m.Structure()
	if err != nil {
		return body(i.words().torn)
	}
	r := texts{i: i, body: m.Body()}
	r.part(root)
	return body(strings.Join(r.out, "\n\n"))
}

// texts collects what can be read of a post.
type texts struct {
	i    *Issue
	body []byte
	out  []string
}

func (r *texts) add(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
		r.out = append(r.out, text)
	}
}

func (r *texts) part(p *message.Part) {
	switch media := p.Type.Media; {
	case media == "multipart/alternative" && len(p.Parts) > 0:
		r.part(best(p.Parts))
	case media == "multipart/encrypted":
		r.add(r.i.note(p))
	case len(p.Parts) > 0:
		for _, c := range p.Parts {
			r.part(c)
		}
	case media == "text/plain" || media == "text/x-patch" || media == "text/x-diff":
		r.add(r.i.cut(r.decoded(p)))
	case media == "text/html" && !attached(p):
		r.add(r.i.cut(r.html(p)))
	default:
		r.add(r.i.note(p))
	}
}

// best is the alternative that loses least as text: the last plain one, else one that
// has parts to look into, else the first.
func best(parts []*message.Part) *message.Part {
	var plain, mixed *message.Part
	for _, p := range parts {
		if p.Type.Media == "text/plain" {
			plain = p
		}
		if len(p.Parts) > 0 && mixed == nil {
			mixed = p
		}
	}
	switch {
	case plain != nil:
		return plain
	case mixed != nil:
		return mixed
	}
	return parts[0]
}

// maxHTML bounds the HTML that is read, in octets.
const maxHTML = 4 << 20

func (r *texts) html(p *message.Part) string {
	text := r.decoded(p)
	return message.ReadHTML([]byte(text[:min(len(text), maxHTML)])).Text
}

// decoded is a text as UTF-8: of its charset if that is true, else as it can be read.
func (r *texts) decoded(p *message.Part) string {
	if text, ok := p.Text(r.body); ok {
		return text
	}
	return readable(p.Decode(r.body))
}

// cut ends a text over the limit at a line's end, with a note.
func (i *Issue) cut(text string) string {
	text = clean(text)
	if i.MaxPart == 0 || len(text) <= i.MaxPart {
		return text
	}
	keep := strings.ToValidUTF8(text[:i.MaxPart], "")
	if at := strings.LastIndexByte(keep, '\n'); at > 0 {
		keep = keep[:at]
	}
	return keep + "\n\n" + fmt.Sprintf(i.words().cut, kib(len(text)-len(keep)))
}

// note stands for a part that is left out.
func (i *Issue) note(p *message.Part) string {
	name := ""
	if f := filename(p); f != "" {
		name = " " + f
	}
	size := p.End - p.Start
	if p.Encoding() == "base64" {
		size = size / 4 * 3
	}
	return fmt.Sprintf(i.words().left, oneLine(p.Type.Media), name, kib(size))
}

func kib(n int) int { return (n + 1023) / 1024 }

// maxName bounds a file's name in a note, in characters.
const maxName = 60

// filename is the name that the sender gave a part, fit to be shown.
func filename(p *message.Part) string {
	d := message.Parse([]byte("Content-Type: " + p.Header.Get("Content-Disposition") + "\r\n")).ContentType()
	name := d.Params["filename"]
	if name == "" {
		name = p.Type.Params["name"]
	}
	r := []rune(oneLine(message.DecodeHeader(readable([]byte(name)))))
	if len(r) > maxName {
		r = append(r[:maxName], '…')
	}
	return string(r)
}

func attached(p *message.Part) bool {
	return strings.HasPrefix(strings.ToLower(p.Header.Get("Content-Disposition")), "attachment")
}

// readable makes UTF-8 of octets of unknown charset: what is none is taken for
// Windows-1252, the commonest, or else for Latin-1, where every octet is a letter.
func readable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	if text, ok := message.ToUTF8(b, "windows-1252"); ok {
		return text
	}
	r := make([]rune, len(b))
	for k, c := range b {
		r[k] = rune(c)
	}
	return string(r)
}

// clean is text with LF for line ends and without control characters.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
