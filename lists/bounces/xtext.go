package bounces

import (
	"strconv"
	"strings"
)

// unXtext undoes what some servers leave of xtext (RFC 3461 §4) in Original-Recipient.
// Only "+" and "=" and what is no printable character need encoding, so that an
// address with a "+" of its own stays as it is.
func unXtext(s string) string {
	if strings.IndexByte(s, '+') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '+' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && (n == '+' || n == '=' || n >= 0x80) && strings.ToUpper(s[i+1:i+3]) == s[i+1:i+3] {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeUTF8 undoes \x{HEX} of RFC 6533 §3.
func unescapeUTF8(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.Index(s, `\x{`)
		if i < 0 {
			break
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			break
		}
		n, err := strconv.ParseUint(s[i+3:i+end], 16, 32)
		if err != nil || n > 0x10ffff {
			b.WriteString(s[:i+end+1])
		} else {
			b.WriteString(s[:i])
			b.WriteRune(rune(n))
		}
		s = s[i+end+1:]
	}
	return b.String() + s
}
