package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"qrunner/lists/message"
)

// whole are the fields of a message in a MIME digest: those of a letter, and those
// without which its content cannot be read. Traces and marks of the way here go.
var whole = []string{
	"date", "from", "sender", "reply-to", "to", "cc", "subject", "message-id", "in-reply-to", "references",
	"keywords", "comments", "mime-version", "autocrypt",
}

// MIME makes a digest of RFC 2046 §5.1.5: masthead and topics as text, then the posts
// as messages, octet for octet but for their other header fields and for parts over
// the limit, then the footer.
func (i *Issue) MIME() *message.Message {
	posts := i.messages()
	var parts [][]byte
	front := ""
	for _, text := range []string{i.Masthead, i.Header, i.topics(posts)} {
		if text = strings.Trim(clean(text), "\n"); text != "" {
			front += text + "\n\n"
		}
	}
	parts = append(parts, textPart(i.Name(), strings.TrimRight(front, "\n")+"\n"))
	var enclosed [][]byte
	for _, m := range posts {
		enclosed = append(enclosed, rfc822(i.scrub(m)))
	}
	parts = append(parts, multipart("digest", enclosed))
	if footer := strings.Trim(clean(i.Footer), "\n"); footer != "" {
		parts = append(parts, textPart(i.words().footer, footer+"\n"))
	}
	m := i.header("mime")
	entity := message.Parse(multipart("mixed", parts))
	for _, f := range entity.Fields() {
		m.Set(f.Name, f.Value())
	}
	m.SetBody(entity.Body())
	return m
}

// rfc822 is a post as a part.
func rfc822(m *message.Message) []byte {
	m.DelFunc(func(f message.Field) bool {
		name := strings.ToLower(f.Name)
		for _, w := range whole {
			if w == name {
				return false
			}
		}
		return !strings.HasPrefix(name, "content-")
	})
	raw := m.Wire()
	head := "Content-Type: message/rfc822\r\n"
	if eightBit(raw) {
		head += "Content-Transfer-Encoding: 8bit\r\n"
	}
	return append([]byte(head+"\r\n"), raw...)
}

// textPart is a text of the digest's own as a part.
func textPart(description, text string) []byte {
	m := message.Parse([]byte("\r\n"))
	setText(m, text)
	m.Set("Content-Description", message.EncodeHeader(description))
	return m.Bytes()
}

// multipart puts parts together. No text contains its own hash, so the boundary is
// in none of them.
func multipart(kind string, parts [][]byte) []byte {
	sum := sha256.New()
	for _, p := range parts {
		sum.Write(p)
	}
	boundary := "=_" + hex.EncodeToString(sum.Sum(nil)[:16])
	var b bytes.Buffer
	b.WriteString("Content-Type: multipart/" + kind + `; boundary="` + boundary + "\"\r\n")
	for _, p := range parts {
		if eightBit(p) {
			b.WriteString("Content-Transfer-Encoding: 8bit\r\n")
			break
		}
	}
	for _, p := range parts {
		b.WriteString("\r\n--" + boundary + "\r\n")
		b.Write(p)
	}
	b.WriteString("\r\n--" + boundary + "--\r\n")
	return b.Bytes()
}
