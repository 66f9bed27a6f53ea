package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// decorate puts the footer under the post, and never at the cost of the text above
// it: a plain text takes it at its end if its charset can; a multipart/mixed gets one
// more part; all else is wrapped, untouched, into a multipart/mixed. What is signed
// or encrypted is only ever wrapped. A structure that we do not look into (too deep,
// too many parts, signed without parts) gets no footer.
func decorate(_ context.Context, p *lists.Post) error {
	footer := expand(p.List, p.List.Settings.Text("footer"))
	if strings.TrimSpace(footer) == "" {
		return nil
	}
	footer = strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(footer, "\r\n", "\n"), "\n")+"\n", "\n", "\r\n")
	m := p.Message
	root, err := m.Structure()
	switch {
	case err != nil, strings.HasPrefix(root.Type.Media, "multipart/") && len(root.Parts) == 0:
		return nil
	case root.Type.Media == "text/plain" && appendText(m, footer):
	case root.Type.Media == "multipart/mixed":
		appendPart(m, root, footer)
	default:
		wrap(m, footer)
	}
	return nil
}

// footerPart is the footer as an entity of its own.
func footerPart(footer string) []byte {
	charset, encoding, body := "us-ascii", "7bit", []byte(footer)
	if _, ascii := message.FromUTF8(footer, "us-ascii"); !ascii || longLine(body) {
		charset, encoding, body = "utf-8", "quoted-printable", message.QuotedPrintable(body)
	}
	return append([]byte("Content-Type: text/plain; charset="+charset+"\r\n"+
		"Content-Transfer-Encoding: "+encoding+"\r\n"+
		"Content-Disposition: inline\r\n\r\n"), body...)
}

// appendPart adds the footer behind the last part of a multipart/mixed.
func appendPart(m *message.Message, root *message.Part, footer string) {
	boundary := root.Type.Params["boundary"]
	body, end := m.Body(), root.Parts[len(root.Parts)-1].End
	out := bytes.Clone(body[:end])
	out = append(out, "\r\n--"+boundary+"\r\n"...)
	out = append(out, bytes.TrimSuffix(footerPart(footer), []byte("\r\n"))...)
	if end == len(body) { // the closing line is missing
		out = append(out, "\r\n--"+boundary+"--\r\n"...)
	}
	m.SetBody(append(out, body[end:]...))
}

// wrap makes the message the first part of a new multipart/mixed and the footer the
// second. Its Content-* fields go with it, octet for octet. Only a text with lines
// over the limit is encoded for that: no server need take it as it is.
func wrap(m *message.Message, footer string) {
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
	out = append(out, footerPart(footer)...)
	out = append(out, "--"+boundary+"--\r\n"...)
	m.Set("MIME-Version", "1.0")
	m.Set("Content-Type", `multipart/mixed; boundary="`+boundary+`"`)
	if eightBit(out) {
		m.Set("Content-Transfer-Encoding", "8bit") // RFC 2045 §6.4
	}
	m.SetBody(out)
}
