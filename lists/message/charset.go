package message

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// ToUTF8 decodes text of a named charset; "" is US-ASCII. False if the charset is
// unknown, or if text is not what the name says.
func ToUTF8(text []byte, charset string) (string, bool) {
	switch charset = canonical(charset); charset {
	case "us-ascii":
		return string(text), bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	case "utf-8":
		return string(text), utf8.Valid(text)
	}
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return "", false
	}
	out, err := enc.NewDecoder().Bytes(text)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", false
	}
	return string(out), true
}

// FromUTF8 encodes text in a named charset; false if the charset is unknown or lacks
// a character of it.
func FromUTF8(text, charset string) ([]byte, bool) {
	switch charset = canonical(charset); charset {
	case "us-ascii":
		return []byte(text), strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	case "utf-8":
		return []byte(text), utf8.ValidString(text)
	}
	enc, err := htmlindex.Get(charset)
	if err != nil || enc == encoding.Replacement {
		return nil, false
	}
	out, err := enc.NewEncoder().Bytes([]byte(text))
	return out, err == nil
}

// canonical is a charset's name in lower case with the commonest by-names resolved.
func canonical(charset string) string {
	switch c := strings.ToLower(strings.TrimSpace(charset)); c {
	case "", "ascii", "us-ascii", "ansi_x3.4-1968", "646":
		return "us-ascii"
	case "utf-8", "utf8":
		return "utf-8"
	default:
		return c
	}
}

// fromBase64 decodes what can be decoded: octets outside the alphabet are skipped
// (RFC 2045 §6.8), a torn end is dropped.
func fromBase64(b []byte) []byte {
	clean := make([]byte, 0, len(b))
	for _, c := range b {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' {
			clean = append(clean, c)
		}
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(clean)))
	n, _ := base64.RawStdEncoding.Decode(out, clean)
	return out[:n]
}

// fromQuoted decodes quoted-printable; what is no valid escape stays as it stands
// (RFC 2045 §6.7).
func fromQuoted(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		i := bytes.IndexByte(b, '=')
		if i < 0 {
			return append(out, b...)
		}
		out, b = append(out, b[:i]...), b[i:]
		if n := softBreak(b); n > 0 {
			b = b[n:]
		} else if len(b) >= 3 && hex(b[1]) >= 0 && hex(b[2]) >= 0 {
			out, b = append(out, byte(hex(b[1])<<4|hex(b[2]))), b[3:]
		} else {
			out, b = append(out, '='), b[1:]
		}
	}
	return out
}

// softBreak is the length of the soft line break that b starts with.
func softBreak(b []byte) int {
	n := 1
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n++
	}
	switch {
	case n == len(b), b[n] == '\n':
		return min(n+1, len(b))
	case b[n] == '\r' && n+1 < len(b) && b[n+1] == '\n':
		return n + 2
	}
	return 0
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
