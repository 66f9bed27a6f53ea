package bounces

import (
	"html"
	"strings"
	"unicode/utf8"

	"qrunner/lists/message"
)

// loose reads text of a charset that may be wrong or unknown: what is UTF-8 is that,
// whatever the name says; other octets go by the name, at last as Windows-1252. Line
// ends become LF.
func loose(b []byte, charset string) string {
	s := string(b)
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if strings.Contains(s, "\x1b$") { // ISO-2022 looks like ASCII
		if charset == "" || !strings.HasPrefix(strings.ToLower(charset), "iso-2022") {
			charset = "iso-2022-jp"
		}
		if t, ok := message.ToUTF8([]byte(s), charset); ok {
			return t
		}
		return s
	}
	if utf8.ValidString(s) {
		return s
	}
	for _, c := range []string{charset, "windows-1252"} {
		if t, ok := message.ToUTF8([]byte(s), c); ok && c != "" {
			return t
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// stripHTML makes text of HTML: tags go, those that end a line become one.
func stripHTML(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(strings.ReplaceAll(s[:i], "\n", " "))
		s = s[i:]
		end := strings.IndexByte(s, '>')
		if end < 0 {
			break
		}
		tag := tagName(s[1:end])
		s = s[end+1:]
		switch tag {
		case "style", "script", "title":
			_, s, _ = cutFold(s, "</"+tag)
		case "br", "p", "/p", "div", "/div", "tr", "/tr", "li", "h1", "h2", "h3", "hr", "pre", "/pre", "table", "/title":
			b.WriteByte('\n')
		}
	}
	return strings.ReplaceAll(html.UnescapeString(b.String()), "\u00a0", " ")
}

func tagName(s string) string {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		s = s[:i]
	}
	return strings.ToLower(strings.TrimSuffix(s, "/"))
}

// cutFold is strings.Cut for an ASCII separator in lower case, in any case.
func cutFold(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i]|0x20 == sep[0]|0x20 && strings.EqualFold(s[i:i+len(sep)], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// cutOriginal splits the text for people from the returned message below it. What
// stands in a returned message is about nobody.
func cutOriginal(s string) (notice, original string) {
	seen := false // a line with something on it
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			end = len(s) - at
		}
		line := s[at : at+end]
		if seen && startsOriginal(line) {
			return s[:at], originalHeader(s[at:])
		}
		seen = seen || strings.TrimSpace(line) != ""
		at += end + 1
	}
	return s, ""
}

// originalHeader is the returned message without the lines that announce it.
func originalHeader(s string) string {
	for range 8 {
		line, rest, _ := strings.Cut(s, "\n")
		name, _, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && name != "" && !strings.ContainsAny(name, " \t") && !startsOriginalText(line) {
			return strings.TrimLeft(s, " \t")
		}
		s = rest
	}
	return s
}

func startsOriginal(line string) bool {
	return strings.HasPrefix(line, "Received: ") || strings.HasPrefix(line, "Return-Path: ") ||
		strings.HasPrefix(line, "Return-path: ") || strings.HasPrefix(strings.TrimLeft(line, " \t|"), "Received: from ") ||
		startsOriginalText(line)
}

func startsOriginalText(line string) bool {
	s := strings.ToLower(strings.Trim(line, " \t-*=|_+#:"))
	for _, h := range originalHeads {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

// originalHeads are the beginnings of lines below which the returned message stands.
var originalHeads = []string{
	"this is a copy of", "below this line is a copy", "below this line", "below the next line is a copy",
	"below is a copy of", "here is a copy of the first part", "included is a copy of the message",
	"enclosed is a copy of", "attachment is a copy of", "a copy of the original message", "original message",
	"the original message headers", "original mail info", "the header of the original message",
	"header of the source mail", "the header and top", "message header follows", "message headers follow",
	"message text follows", "message body follows", "unsent message", "returned message", "returned mail follows",
	"returned mail --", "start of returned message", "your message reads (in part)",
	"the attachment contains the original mail headers", "mensaje original", "message d'origine",
	"en-têtes de message d'origine", "ursprüngliche nachricht", "ursprüngliche nachrichtenkopfzeilen",
	"originalnachricht", "intestazioni originali", "messaggio originale", "encabezados de mensajes originales",
	"cabeçalhos de mensagens originais", "元のメッセージ", "исходное сообщение", "oryginalna wiadomość",
	"oorspronkelijk bericht", "oorspronkelijke berichtkoppen", "undelivered message follows",
	"rejected message follows", "content of the message", "your original message follows",
}
