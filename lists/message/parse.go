package message

import (
	"bytes"
	"slices"
	"strings"
)

// known are the fields whose presence shows that the header still goes on. A body
// without an empty line before it does not have them.
var known = []string{
	"bcc", "cc", "content-description", "content-disposition", "content-id", "content-transfer-encoding",
	"content-type", "date", "from", "in-reply-to", "message-id", "mime-version", "received", "references",
	"reply-to", "return-path", "sender", "subject", "to",
}

// Parse splits raw into header and body. It keeps sub-slices of raw, which must not
// change afterwards.
//
// The header ends at the first empty line (CRLF, LF, or CR CR LF). A line in it that
// is no field ("From " of a mailbox, a line without colon) stays where it is, under
// no name. Where the empty line is missing, the body starts at the first such line
// that no field of RFC 5322 follows.
func Parse(raw []byte) *Message {
	m := &Message{raw: raw}
	rest := raw
	for len(rest) > 0 && m.sep == nil {
		line := nextLine(rest)
		if blank(line) {
			m.sep, rest = line, rest[len(line):]
			break
		}
		end := fieldEnd(rest, len(line))
		m.fields = append(m.fields, Field{Name: fieldName(line), Raw: rest[:end:end]})
		rest = rest[end:]
	}
	m.body = rest
	m.findBody(raw)
	return m
}

// fieldEnd is where the field that starts with a line of n octets ends: behind its
// folded lines (RFC 5322 §2.2.3).
func fieldEnd(b []byte, n int) int {
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n += len(nextLine(b[n:]))
	}
	return n
}

// findBody gives lines back to the body that were taken for header lines although
// the empty line is missing.
func (m *Message) findBody(raw []byte) {
	last, at := 0, 0 // behind the last known field
	for i, f := range m.fields {
		if slices.Contains(known, strings.ToLower(f.Name)) {
			last = i + 1
		}
	}
	for i, f := range m.fields {
		if i >= last && f.Name == "" && !fromLine(f.Raw) {
			m.fields, m.sep, m.body = slices.Clip(m.fields[:i]), nil, raw[at:]
			return
		}
		at += len(f.Raw)
	}
}

// fromLine recognises the separator line of a mailbox file, quoted or not.
func fromLine(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}

func nextLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[: i+1 : i+1]
	}
	return b
}

func blank(line []byte) bool { return len(bytes.TrimRight(line, "\r\n")) == 0 }

// fieldName is the name of RFC 5322 §2.2, blanks before the colon allowed (§4.5).
func fieldName(line []byte) string {
	name, _, ok := bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	if !ok || len(name) == 0 {
		return ""
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return ""
		}
	}
	return string(name)
}
