package message

import (
	"bytes"
	"strings"
)

// Wire is the message as it goes to an SMTP server: CRLF at the end of each line and
// nowhere else a CR or LF (RFC 5321 §2.3.8), an empty line behind the header, no
// header line that is not a field, none over 998 octets (folded at blanks, else
// re-encoded, else cut), no NUL in the header. All else is as Bytes has it.
func (m *Message) Wire() []byte {
	out := make([]byte, 0, len(m.body)+len(m.body)/16+4096)
	for _, f := range m.fields {
		if f.Name != "" {
			out = append(out, wireField(f)...)
		}
	}
	out = append(out, "\r\n"...)
	return AppendLines(out, m.body)
}

// wireField gives a field as it came, if it can go like that.
func wireField(f Field) []byte {
	if sound(f.Raw) && f.Raw[len(f.Name)] == ':' {
		return f.Raw
	}
	_, value, _ := bytes.Cut(f.Raw, []byte(":"))
	var lines []string
	for l := range strings.SplitSeq(string(value), "\n") {
		lines = append(lines, OneLine(strings.TrimRight(l, "\r")))
	}
	if kept := f.Name + ":" + foldedAgain(lines); sound([]byte(kept)) {
		return []byte(kept)
	}
	return NewField(f.Name, f.Value()).Raw
}

// foldedAgain joins the lines of a field as they were folded, without any that is
// all blank.
func foldedAgain(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if i > 0 && b.Len() > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l)
	}
	b.WriteString("\r\n")
	return b.String()
}

// sound reports whether a field can be sent as it is.
func sound(raw []byte) bool {
	for i := 0; i < len(raw); {
		line := nextLine(raw[i:])
		i += len(line)
		text, ok := bytes.CutSuffix(line, []byte("\r\n"))
		if !ok || len(text) > maxLine || bytes.ContainsAny(text, "\r\x00") || len(bytes.TrimSpace(text)) == 0 {
			return false
		}
	}
	return true
}

// shortWords re-encodes encoded-words that no line can hold.
func shortWords(value string) string {
	if len(value) <= maxLine {
		return value
	}
	words := strings.Split(value, " ")
	for i, w := range words {
		if len(w) <= maxLine {
			continue
		}
		if text := DecodeHeader(w); text != w {
			words[i] = EncodeHeader(text)
		}
	}
	return strings.Join(words, " ")
}

// AppendLines appends a body, or a piece of one, with CRLF for each line end that it
// has: CRLF, LF, CR, and any run of CR before an LF.
func AppendLines(out, body []byte) []byte {
	for len(body) > 0 {
		i := bytes.IndexAny(body, "\r\n")
		if i < 0 {
			return append(out, body...)
		}
		out = append(append(out, body[:i]...), "\r\n"...)
		body = body[i:]
		run := len(body) - len(bytes.TrimLeft(body, "\r"))
		if run < len(body) && body[run] == '\n' {
			body = body[run+1:]
			continue
		}
		for range run - 1 { // each CR by itself is a line end of its own
			out = append(out, "\r\n"...)
		}
		body = body[run:]
	}
	return out
}

// LF is b with LF for each line end, as files and pagers want it.
func LF(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}
