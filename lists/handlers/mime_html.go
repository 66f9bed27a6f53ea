package handlers

import (
	"strings"
	"unicode/utf8"

	"github.com/k3a/html2text"

	"qrunner/lists/message"
)

// fromHTML makes plain text of an HTML part.
func fromHTML(body []byte, p *message.Part) piece {
	source, ok := p.Text(body)
	if !ok {
		raw := p.Decode(body)
		if source = string(raw); !utf8.Valid(raw) {
			source, _ = message.ToUTF8(raw, "windows-1252")
		}
	}
	text := html2text.HTML2TextWithOptions(source, html2text.WithUnixLineBreaks(), html2text.WithLinksInnerText(), html2text.WithListSupport())
	text = strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))+"\n", "\n", "\r\n")
	head := p.Header.Clone()
	head.SetBody(nil)
	content, encoding, charset := []byte(text), "7bit", "us-ascii"
	if _, ascii := message.FromUTF8(text, charset); !ascii || longLine(content) {
		content, encoding, charset = message.QuotedPrintable(content), "quoted-printable", "utf-8"
	}
	head.Set("Content-Type", "text/plain; charset="+charset)
	head.Set("Content-Transfer-Encoding", encoding)
	return piece{head: head, content: content, changed: true}
}
