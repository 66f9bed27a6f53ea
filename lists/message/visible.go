package message

import (
	"bytes"
	"html"
	"strings"

	xhtml "golang.org/x/net/html"
)

// Visible is what a reader sees of an HTML text, with where each octet of it stands in
// the source.
type Visible struct {
	// Text has a line for each block; lines of a quotation (blockquote) start with "> ".
	Text string
	from []int // per octet of Text: the first octet of the source that it comes from
	to   []int // and behind the last; equal where nothing in the source stands for it
}

// breaks are the elements that start a new line.
var breaks = map[string]bool{
	"address": true, "blockquote": true, "br": true, "center": true, "dd": true, "div": true, "dl": true, "dt": true, "form": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "hr": true, "li": true, "ol": true, "p": true,
	"pre": true, "section": true, "table": true, "td": true, "th": true, "tr": true, "ul": true,
}

// hidden are the elements whose text nobody sees.
var hidden = map[string]bool{"script": true, "style": true, "title": true, "template": true, "noscript": true}

// ReadHTML reads HTML as a reader sees it. It never fails, and takes time linear in the
// length of src.
func ReadHTML(src []byte) Visible {
	r := htmlReader{}
	z := xhtml.NewTokenizer(bytes.NewReader(src))
	for at := 0; ; {
		kind := z.Next()
		raw := z.Raw()
		if kind == xhtml.ErrorToken || at+len(raw) > len(src) {
			break
		}
		switch kind {
		case xhtml.TextToken:
			r.text(src[at:at+len(raw)], at)
		case xhtml.StartTagToken, xhtml.EndTagToken, xhtml.SelfClosingTagToken:
			name, _ := z.TagName()
			r.tag(string(name), kind)
		}
		at += len(raw)
	}
	return Visible{r.b.String(), r.from, r.to}
}

// Cut is src, the source of v, without what stands for the octets of v.Text from first
// up to last. Markup between them stays.
func (v Visible) Cut(src []byte, first, last int) []byte {
	out := make([]byte, 0, len(src))
	at := 0
	for i := first; i < last; i++ {
		if v.from[i] >= at {
			out = append(out, src[at:v.from[i]]...)
			at = v.to[i]
		}
	}
	return append(out, src[at:]...)
}

// htmlReader collects visible text.
type htmlReader struct {
	b        strings.Builder
	from, to []int
	skip     string // the hidden element that is open
	quotes   int    // blockquotes that are open
	midLine  bool
}

func (r *htmlReader) tag(name string, kind xhtml.TokenType) {
	switch {
	case r.skip != "":
		if kind == xhtml.EndTagToken && name == r.skip {
			r.skip = ""
		}
		return
	case hidden[name] && kind == xhtml.StartTagToken:
		r.skip = name
		return
	}
	if breaks[name] {
		r.newline()
	}
	if name == "blockquote" {
		switch kind {
		case xhtml.StartTagToken:
			r.quotes++
		case xhtml.EndTagToken:
			r.quotes = max(0, r.quotes-1)
		}
	}
}

func (r *htmlReader) newline() {
	if r.midLine {
		r.put("\n", 0, 0)
		r.midLine = false
	}
}

// text takes a run of text that starts at octet at of the source.
func (r *htmlReader) text(raw []byte, at int) {
	if r.skip != "" {
		return
	}
	for i := 0; i < len(raw); {
		n, text := 1, string(raw[i:i+1])
		if raw[i] == '&' {
			n, text = entity(raw[i:])
		}
		if strings.ContainsAny(text, " \t\r\n\f") || text == "\u00a0" {
			text = " "
		}
		if !r.midLine && text != " " {
			if r.quotes > 0 {
				r.put("> ", at+i, at+i)
			}
			r.midLine = true
		}
		r.put(text, at+i, at+i+n)
		i += n
	}
}

// entity reads a character reference: how long it is and what it stands for.
func entity(raw []byte) (int, string) {
	const longest = 32
	if end := bytes.IndexByte(raw[:min(len(raw), longest)], ';'); end > 0 {
		if text := html.UnescapeString(string(raw[:end+1])); text != string(raw[:end+1]) {
			return end + 1, text
		}
	}
	return 1, "&"
}

func (r *htmlReader) put(text string, from, to int) {
	r.b.WriteString(text)
	for range len(text) {
		r.from, r.to = append(r.from, from), append(r.to, to)
	}
}
