package erase

import (
	"bytes"
	"strings"
)

// authors are the fields of a message that have the name of a person beside his address.
var authors = []string{"from", "sender", "reply-to", "resent-from"}

// HideMessage is Hide for a message: in From and the like, a field that has one of the
// words loses the names in it too.
func (ws Words) HideMessage(raw []byte) []byte {
	out := ws.Hide(raw)
	if bytes.Equal(out, raw) {
		return raw
	}
	for at := 0; at < len(out); {
		end := fieldEnd(out, at)
		if end == at || len(bytes.TrimSpace(out[at:end])) == 0 {
			break // the body
		}
		name, _, _ := bytes.Cut(raw[at:end], []byte(":"))
		if !bytes.Equal(out[at:end], raw[at:end]) && isAuthor(string(name)) {
			hideNames(out[at+len(name) : end])
		}
		at = end
	}
	return out
}

// fieldEnd is where the field that begins at a place ends: behind its continuation lines.
func fieldEnd(b []byte, at int) int {
	for at < len(b) {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return len(b)
		}
		at += i + 1
		if at >= len(b) || b[at] != ' ' && b[at] != '\t' {
			return at
		}
	}
	return at
}

func isAuthor(name string) bool {
	for _, a := range authors {
		if strings.EqualFold(strings.TrimSpace(name), a) {
			return true
		}
	}
	return false
}

// hideNames leaves nothing of a field's value but what separates.
func hideNames(value []byte) {
	for i, c := range value {
		if strings.IndexByte(":@<>, \t\r\n", c) < 0 {
			value[i] = 'x'
		}
	}
}
