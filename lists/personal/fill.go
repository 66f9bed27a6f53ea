package personal

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/lists/message"
)

// Fill is a gap made ready to be filled many times. Any goroutine may use it.
type Fill struct {
	charset  string
	encoding string
	parts    []encoded
	after    []byte
}

// encoded is a piece in the gap's charset: octets, or a variable.
type encoded struct {
	octets []byte
	name   string
}

// Compile makes a gap ready.
func Compile(g lists.Gap) *Fill {
	f := &Fill{charset: g.Charset, encoding: strings.ToLower(g.Encoding), after: g.After}
	add := func(octets []byte, name string) {
		if len(octets) > 0 || name != "" {
			f.parts = append(f.parts, encoded{octets, name})
		}
	}
	add(g.Before, "")
	for _, p := range parse(g.Text) {
		if p.name == "" {
			add(octets(p.text, g.Charset), "")
		} else {
			add(nil, p.name)
		}
	}
	return f
}

// Append appends what the gap has in a person's copy; nil for nobody's: the variables
// then are empty.
func (f *Fill) Append(dst []byte, p *Person) []byte {
	if p == nil {
		p = &Person{}
	}
	switch f.encoding {
	case "quoted-printable":
		return append(dst, message.QuotedPrintable(f.text(nil, p))...)
	case "base64":
		return append(dst, message.Base64(f.text(nil, p))...)
	}
	return f.text(dst, p)
}

// text appends the text in its charset.
func (f *Fill) text(dst []byte, p *Person) []byte {
	for i := range f.parts {
		if f.parts[i].name == "" {
			dst = append(dst, f.parts[i].octets...)
			continue
		}
		if v := p.value(f.parts[i].name); ascii(v) {
			dst = append(dst, v...)
		} else {
			dst = append(dst, octets(v, f.charset)...)
		}
	}
	return append(dst, f.after...)
}

// octets is text in a charset, with "?" for what it lacks.
func octets(text, charset string) []byte {
	if b, ok := message.FromUTF8(text, charset); ok {
		return b
	}
	var out []byte
	for _, r := range text {
		b, ok := message.FromUTF8(string(r), charset)
		if !ok {
			b = []byte("?")
		}
		out = append(out, b...)
	}
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Flatten fills the gaps that are the same in every copy. It returns the body with them
// and the gaps that are left, where they are now.
func Flatten(body []byte, gaps []lists.Gap) ([]byte, []lists.Gap) {
	var out []byte
	var left []lists.Gap
	at := 0
	for _, g := range gaps {
		out = append(out, body[at:g.At]...)
		at = g.At
		if Personal(g.Text) {
			g.At = len(out)
			left = append(left, g)
			continue
		}
		out = Compile(g).Append(out, nil)
	}
	if len(left) == len(gaps) {
		return body, gaps
	}
	return append(out, bytes.Clone(body[at:])...), left
}
