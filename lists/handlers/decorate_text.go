package handlers

import (
	"bytes"
	"encoding/base64"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// maxLine is the longest line of RFC 5322 §2.1.1, in octets.
const maxLine = 998

// appendText adds the footer to the end of a plain text. It gives up, and nothing is
// changed, if the text is an attachment, if it is not what its charset or transfer
// encoding says, or if the charset lacks a character of the footer. The octets of
// the text stay, except that lines over the limit make it quoted-printable.
func appendText(m *message.Message, footer insertion, gaps *[]lists.Gap) bool {
	if d := strings.ToLower(m.Get("Content-Disposition")); strings.HasPrefix(d, "attachment") {
		return false
	}
	t := m.ContentType()
	if !asciiBased(t.Charset()) || !footer.fits(t.Charset()) {
		return false
	}
	if strings.EqualFold(t.Params["format"], "flowed") {
		footer.text = fixedLines(footer.text)
	}
	if identity(m) {
		return appendIdentity(m, footer, gaps)
	}
	switch m.Encoding() {
	case "quoted-printable":
		return appendQuoted(m, footer, gaps)
	case "base64":
		return appendBase64(m, footer, gaps)
	}
	return false
}

// identity reports whether the body's octets are the text itself.
func identity(m *message.Message) bool {
	switch m.Encoding() {
	case "7bit", "8bit", "binary":
		return true
	}
	return false
}

func appendIdentity(m *message.Message, footer insertion, gaps *[]lists.Gap) bool {
	charset, encoding := m.ContentType().Charset(), m.Encoding()
	if _, ok := message.ToUTF8(m.Body(), charset); !ok {
		return false
	}
	body, footer := under(m.Body(), m.Body(), footer)
	if longLine(body) || footer.long() {
		encoding = "quoted-printable"
		body = message.QuotedPrintable(body)
	} else if encoding == "7bit" && !footer.plain() {
		encoding = "8bit"
	}
	if encoding != m.Encoding() {
		m.Set("MIME-Version", "1.0")
		m.Set("Content-Transfer-Encoding", encoding)
	}
	*gaps = append(*gaps, footer.gap(len(body), encoding, charset))
	m.SetBody(body)
	return true
}

// appendQuoted leaves the encoded text alone and encodes the footer behind it.
func appendQuoted(m *message.Message, footer insertion, gaps *[]lists.Gap) bool {
	root, err := m.Structure()
	if err != nil {
		return false
	}
	text := root.Decode(m.Body())
	if _, ok := message.ToUTF8(text, m.ContentType().Charset()); !ok {
		return false
	}
	body := m.Body()
	if cut := bytes.TrimRight(body, " \t\r\n"); bytes.HasSuffix(cut, []byte("=")) {
		body = cut[:len(cut)-1] // a soft line break at the very end
	}
	body, footer = under(body, text, footer)
	*gaps = append(*gaps, footer.gap(len(body), "quoted-printable", m.ContentType().Charset()))
	m.SetBody(body)
	return true
}

// base64Line is how many octets a line of base64 has.
const base64Line = 57

// appendBase64 encodes the text anew; its last line, if that is not a whole one, is
// encoded together with the footer.
func appendBase64(m *message.Message, footer insertion, gaps *[]lists.Gap) bool {
	charset := m.ContentType().Charset()
	packed := bytes.Join(bytes.Fields(m.Body()), nil)
	text := make([]byte, base64.StdEncoding.DecodedLen(len(packed)))
	n, err := base64.StdEncoding.Decode(text, packed)
	if _, ok := message.ToUTF8(text[:n], charset); err != nil || !ok {
		return false
	}
	whole, footer := under(text[:n], text[:n], footer)
	cut := len(whole) - len(whole)%base64Line
	body := message.Base64(whole[:cut])
	g := footer.gap(len(body), "base64", charset)
	g.Before = whole[cut:]
	*gaps = append(*gaps, g)
	m.SetBody(body)
	return true
}

// under puts the footer on a line of its own under a body whose text is given: with an
// empty line before it if the text's last line ends in a blank, for in format=flowed that
// line would go on in the footer (RFC 3676 §4.1).
func under(body, text []byte, footer insertion) ([]byte, insertion) {
	if len(body) > 0 && body[len(body)-1] != '\n' {
		body = append(bytes.Clone(body), "\r\n"...)
	}
	if bytes.HasSuffix(bytes.TrimRight(text, "\r\n"), []byte(" ")) && !strings.HasPrefix(footer.text, "\r\n") {
		footer.text = "\r\n" + footer.text
	}
	return body, footer
}

// fixedLines makes a text safe for format=flowed (RFC 3676 §4.2, §4.4): no line that
// would flow into the next, what would look quoted is stuffed with a blank.
func fixedLines(s string) string {
	lines := strings.Split(s, "\r\n")
	for i, l := range lines {
		if l != "-- " {
			l = strings.TrimRight(l, " ")
		}
		if strings.HasPrefix(l, ">") || strings.HasPrefix(l, " ") || strings.HasPrefix(l, "From ") {
			l = " " + l
		}
		lines[i] = l
	}
	return strings.Join(lines, "\r\n")
}

// asciiBased reports whether ASCII text of the charset is ASCII octets, so that a
// footer can follow whatever stands before it (not so: UTF-16, ISO-2022-JP's shifts).
func asciiBased(charset string) bool {
	if strings.HasPrefix(strings.ToLower(charset), "iso-2022-") {
		return false
	}
	const probe = "Az ~\r\n"
	b, ok := message.FromUTF8(probe, charset)
	return ok && string(b) == probe
}

func eightBit(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= 0x80 }) >= 0
}

func longLine(b []byte) bool {
	for line := range bytes.Lines(b) {
		if len(bytes.TrimRight(line, "\r\n")) > maxLine {
			return true
		}
	}
	return false
}
