package message

import "strings"

// MessageID is the message's id without its angle brackets, in the one form that
// logs, archive and links use; "" if there is none. A bracket that is missing, blanks
// and folding do not matter; other octets stay as they came.
func (m *Message) MessageID() string { return CleanID(m.Get("Message-ID")) }

// CleanID takes the first message id out of a field's value.
func CleanID(value string) string {
	_, id, ok := strings.Cut(value, "<")
	if !ok {
		id = value
	}
	id, _, _ = strings.Cut(id, ">")
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(id, "?"))
}
