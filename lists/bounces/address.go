package bounces

import (
	"strings"
	"unicode/utf8"

	"qrunner/lists/mailaddr"
)

// maxAddress is the longest text that we try as an address, in octets.
const maxAddress = 320

// parseAddress reads an address as a report writes it: in angle brackets or quotes,
// behind "mailto:" or "SMTP:", with a source route. A local part with misplaced dots,
// as some carriers hand them out, stays as written.
func parseAddress(s string) (mailaddr.Address, bool) {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '<'); i >= 0 {
		if j := strings.IndexByte(s[i:], '>'); j > 0 && strings.Contains(s[i:i+j], "@") {
			s = s[i+1 : i+j]
		}
	}
	s = strings.Trim(s, " \t'[]()")
	for _, p := range []string{"smtp:", "mailto:"} {
		if len(s) > len(p) && strings.EqualFold(s[:len(p)], p) {
			s = s[len(p):]
		}
	}
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' { // "addr": the whole is quoted
		s = s[1 : len(s)-1]
	}
	if len(s) < 3 || len(s) > maxAddress {
		return "", false
	}
	if a, err := mailaddr.ParsePath(s); err == nil && plausible(a) {
		return a, true
	}
	at := strings.LastIndexByte(s, '@')
	if at < 1 || strings.ContainsAny(s[:at], `"\ @<>()[]:;,`) {
		return "", false
	}
	a, err := mailaddr.Parse(`"` + s[:at] + `"` + s[at:])
	if err != nil || !plausible(a) {
		return "", false
	}
	return mailaddr.Address(s[:at] + "@" + a.Domain()), true
}

// plausible refuses what looks like a message id more than like an address, and
// domains that no mail system would have sent to.
func plausible(a mailaddr.Address) bool {
	d := a.Domain()
	return strings.HasPrefix(d, "[") || strings.IndexByte(d, '.') > 0
}

// leadAddress takes the address that a line starts with, behind bullets, brackets and
// quotes, and gives what follows it.
func leadAddress(line string) (a mailaddr.Address, rest string, ok bool) {
	s := strings.TrimLeft(line, " \t*->•·|")
	if len(s) > 6 && strings.EqualFold(s[:6], "[smtp:") {
		s = s[6:]
	}
	if s == "" || s[0] == '@' {
		return "", "", false
	}
	closer := ""
	switch s[0] {
	case '<':
		closer = ">"
	case '[':
		closer = "]"
	case '\'':
		closer = "'"
	case '"':
		closer = `"`
		if strings.Contains(s[1:], `"@`) {
			closer = ""
		}
	}
	if closer != "" {
		end := strings.Index(s[1:], closer)
		if end < 0 || end > maxAddress {
			return "", "", false
		}
		a, ok = parseAddress(s[1 : end+1])
		return a, s[end+2:], ok
	}
	return bareAddress(s)
}

// bareAddress takes an address that nothing encloses.
func bareAddress(s string) (mailaddr.Address, string, bool) {
	end := strings.IndexFunc(s, endsAddress)
	if end < 0 {
		end = len(s)
	}
	word := strings.TrimRight(s[:end], ".:!?")
	if strings.IndexByte(word, '@') < 1 {
		return "", "", false
	}
	if i := strings.Index(word, "..."); i > 0 && strings.Contains(word[:i], "@") {
		word = word[:i]
	}
	a, ok := parseAddress(word)
	return a, s[len(word):], ok
}

func endsAddress(r rune) bool {
	return r <= ' ' || r == utf8.RuneError || strings.ContainsRune(`<>()[]",;:`, r) || r == '\u3000' || r == '。'
}
