package digest

import (
	"bytes"
	"strings"

	"qrunner/lists/message"
)

// scrub puts notes in the place of parts over the limit. What is signed or encrypted
// stays as it is: a signature over a note is worth nothing. A structure that we do not
// look into stays too.
func (i *Issue) scrub(m *message.Message) *message.Message {
	m = m.Clone()
	root, err := m.Structure()
	if err != nil || i.MaxPart == 0 {
		return m
	}
	var large []*message.Part
	i.large(root, &large)
	switch {
	case len(large) == 0:
		return m
	case large[0] == root:
		text := i.instead(root, m.Body())
		m.DelFunc(func(f message.Field) bool { return strings.HasPrefix(strings.ToLower(f.Name), "content-") })
		m.Set("MIME-Version", "1.0")
		setText(m, text)
		return m
	}
	var out bytes.Buffer
	at := 0
	for _, p := range large {
		out.Write(m.Body()[at : p.Start-len(p.Header.Bytes())])
		h := message.Parse([]byte("\r\n"))
		setText(h, i.instead(p, m.Body()))
		out.Write(bytes.TrimSuffix(h.Bytes(), []byte("\r\n")))
		at = p.End
	}
	out.Write(m.Body()[at:])
	m.SetBody(out.Bytes())
	return m
}

// large collects the parts over the limit, in the order of the message.
func (i *Issue) large(p *message.Part, out *[]*message.Part) {
	switch p.Type.Media {
	case "multipart/signed", "multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime":
		return
	}
	if len(p.Parts) == 0 {
		if p.End-p.Start > i.MaxPart {
			*out = append(*out, p)
		}
		return
	}
	for _, c := range p.Parts {
		i.large(c, out)
	}
}

// instead is what stands in a large part's place: the beginning of a text, or a note.
func (i *Issue) instead(p *message.Part, body []byte) string {
	if p.Type.Media == "text/plain" && !attached(p) {
		return i.cut((&texts{i: i, body: body}).decoded(p)) + "\n"
	}
	return i.note(p) + "\n"
}
