package handlers

import (
	"bytes"
	"encoding/base64"
	"maps"
	"mime"
	"strings"

	"qrunner/lists/message"
	"qrunner/lists/personal"
)

// maxLine is the longest line of RFC 5322 §2.1.1, in octets.
const maxLine = 998

// text adds header and footer to a plain text. It gives up, and nothing is changed, if the
// text is an attachment, if it is not what its charset or transfer encoding says, or if
// the charset lacks a character of what is added. The octets of the text stay, except that
// lines over the limit make it quoted-printable.
func (d *decoration) text() bool {
	m := d.m
	if v := strings.ToLower(m.Get("Content-Disposition")); strings.HasPrefix(v, "attachment") {
		return false
	}
	t := m.ContentType()
	charset, retyped := t.Charset(), ""
	if asciiOnly(charset) && !(d.header.plain() && d.footer.plain()) {
		if retyped = withCharset(t, "utf-8"); retyped != "" {
			charset = "utf-8" // the text's octets are the same in it
		}
	}
	if !asciiBased(charset) || !d.header.fits(charset) || !d.footer.fits(charset) {
		return false
	}
	header, footer := d.header, d.footer
	if strings.EqualFold(t.Params["format"], "flowed") {
		header.text, footer.text = fixedLines(header.text), fixedLines(footer.text)
	}
	done := false
	switch e := m.Encoding(); {
	case identity(m):
		done = d.identity(header, footer, charset)
	case e == "quoted-printable":
		done = d.quoted(header, footer, charset)
	case e == "base64":
		done = d.base64(header, footer, charset)
	}
	if done && retyped != "" {
		m.Set("MIME-Version", "1.0")
		m.Set("Content-Type", retyped)
	}
	return done
}

// withCharset is a Content-Type with another charset; "" if it cannot be written.
func withCharset(t message.ContentType, charset string) string {
	params := map[string]string{}
	maps.Copy(params, t.Params)
	params["charset"] = charset
	return mime.FormatMediaType(t.Media, params)
}

// identity reports whether the body's octets are the text itself.
func identity(m *message.Message) bool {
	switch m.Encoding() {
	case "7bit", "8bit", "binary":
		return true
	}
	return false
}

func (d *decoration) identity(header, footer insertion, charset string) bool {
	m, encoding := d.m, d.m.Encoding()
	if _, ok := message.ToUTF8(m.Body(), m.ContentType().Charset()); !ok {
		return false
	}
	body, footer := under(m.Body(), m.Body(), footer)
	if longLine(body) || header.long() || footer.long() {
		encoding = "quoted-printable"
		body = message.QuotedPrintable(body)
	} else if encoding == "7bit" && !(header.plain() && footer.plain()) {
		encoding = "8bit"
	}
	if encoding != m.Encoding() {
		m.Set("MIME-Version", "1.0")
		m.Set("Content-Transfer-Encoding", encoding)
	}
	d.put(header, 0, encoding, charset)
	d.put(footer, len(body), encoding, charset)
	m.SetBody(body)
	return true
}

// quoted leaves the encoded text alone and encodes what is added around it.
func (d *decoration) quoted(header, footer insertion, charset string) bool {
	m := d.m
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
	d.put(header, 0, "quoted-printable", charset)
	d.put(footer, len(body), "quoted-printable", charset)
	m.SetBody(body)
	return true
}

// base64Line is how many octets a line of base64 has.
const base64Line = 57

// base64 encodes the text anew, together with a header that is the same for all; its last
// line, if that is not a whole one, is encoded together with the footer. Behind a header
// of varying length base64 cannot go on: then the text becomes quoted-printable.
func (d *decoration) base64(header, footer insertion, charset string) bool {
	m := d.m
	packed := bytes.Join(bytes.Fields(m.Body()), nil)
	text := make([]byte, base64.StdEncoding.DecodedLen(len(packed)))
	n, err := base64.StdEncoding.Decode(text, packed)
	if _, ok := message.ToUTF8(text[:n], m.ContentType().Charset()); err != nil || !ok {
		return false
	}
	whole, footer := under(text[:n], text[:n], footer)
	if personal.Personal(header.text) {
		m.Set("Content-Transfer-Encoding", "quoted-printable")
		m.SetBody(message.QuotedPrintable(whole))
		d.put(header, 0, "quoted-printable", charset)
		d.put(footer, len(m.Body()), "quoted-printable", charset)
		return true
	}
	above, _ := message.FromUTF8(personal.Plain(header.text), charset)
	whole = append(bytes.Clone(above), whole...)
	if footer.none() {
		m.SetBody(message.Base64(whole))
		return true
	}
	cut := len(whole) - len(whole)%base64Line
	body := message.Base64(whole[:cut])
	d.put(footer, len(body), "base64", charset)
	d.gaps[len(d.gaps)-1].Before = whole[cut:]
	m.SetBody(body)
	return true
}

// under puts the footer on a line of its own under a body whose text is given: with an
// empty line before it if the text's last line ends in a blank, for in format=flowed that
// line would go on in the footer (RFC 3676 §4.1).
func under(body, text []byte, footer insertion) ([]byte, insertion) {
	if footer.none() {
		return body, footer
	}
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

// asciiOnly reports whether the charset is ASCII and nothing more: text without a charset
// is (RFC 2045 §5.2).
func asciiOnly(charset string) bool {
	return oneOf(charset, []string{"", "us-ascii", "ascii", "ansi_x3.4-1968", "646"})
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
