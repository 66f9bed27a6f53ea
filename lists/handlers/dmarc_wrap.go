package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// outer are the fields that a wrapped post keeps outside too: what readers see and
// sort by, and what is the list's. The post inside keeps all of its own.
var outer = []string{
	"Received", "Authentication-Results", "From", "To", "Cc", "Reply-To", "Subject", "Date", "Message-ID", "In-Reply-To",
	"References", "Precedence", "Sensitivity", "Importance", "Priority", "Auto-Submitted",
}

// wrapMessage makes the post an attachment of a message from the list; a text of the
// list's goes before it. The author's message inside stays as it came to this handler,
// without what the list put on for its own copies.
func wrapMessage(p *lists.Post) {
	m := p.Message
	inner := m.Clone()
	inner.DelFunc(func(f message.Field) bool { return f.Name == "" || ofList(f.Name) })
	whole := inner.Bytes()
	text := strings.TrimSpace(expand(p.List, p.List.Settings.Text("dmarc_wrapped_message_text")))
	m.DelFunc(func(f message.Field) bool { return !oneOf(f.Name, outer) && !ofList(f.Name) })
	m.Set("MIME-Version", "1.0")
	encoding := "7bit"
	if eightBit(whole) {
		encoding = "8bit"
	}
	if text == "" {
		m.Set("Content-Type", "message/rfc822")
		m.Set("Content-Disposition", "inline")
		m.Set("Content-Transfer-Encoding", encoding)
		m.SetBody(whole)
		return
	}
	sum := sha256.Sum256(whole)
	boundary := "=_" + hex.EncodeToString(sum[:16]) // no text contains its own hash
	var body bytes.Buffer
	body.WriteString("--" + boundary + "\r\n")
	body.Write(footerPart(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n") + "\r\n"))
	body.WriteString("\r\n--" + boundary + "\r\nContent-Type: message/rfc822\r\nContent-Disposition: inline\r\n")
	body.WriteString("Content-Transfer-Encoding: " + encoding + "\r\n\r\n")
	body.Write(whole)
	body.WriteString("\r\n--" + boundary + "--\r\n")
	m.Set("Content-Type", `multipart/mixed; boundary="`+boundary+`"`)
	m.Set("Content-Transfer-Encoding", encoding)
	m.SetBody(body.Bytes())
}

// ofList: the fields that lists put on (RFC 2369, RFC 2919, RFC 5064), loop marks too.
func ofList(name string) bool {
	return oneOf(name, []string{"Archived-At", "X-BeenThere"}) || strings.HasPrefix(strings.ToLower(name), "list-")
}
