package intake

import (
	"fmt"
	"strings"

	"qrunner/lists/mailaddr"
)

// unquoted reads a mailbox whose local part stands without its quotes, as go-smtp
// hands it over. Local parts that cannot stand so are quoted again: "a b"@x, and
// what real mail has without quotes, a..b@x.
func unquoted(s string) (mailaddr.Address, error) {
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return "", fmt.Errorf("%w: no @", mailaddr.ErrSyntax)
	}
	if !strings.HasPrefix(s, `"`) {
		if a, err := mailaddr.Parse(s); err == nil {
			return a, nil
		}
	}
	local := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s[:i])
	return mailaddr.Parse(`"` + local + `"` + s[i:])
}

// mailbox reads a path as it stands in an argument, the environment or a header
// field: angle brackets, source route and quotes allowed; empty is the null path. A
// local part that needs no quotes loses them ("ant"@x is ant@x, RFC 5321 §4.1.2);
// one that lacks them because of its dots gets them.
func mailbox(s string) (mailaddr.Address, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		s = s[1 : len(s)-1]
	}
	if strings.HasPrefix(s, "@") {
		if _, rest, ok := strings.Cut(s, ":"); ok {
			s = rest
		}
	}
	if s == "" {
		return "", nil
	}
	a, err := mailaddr.Parse(s)
	switch i := strings.LastIndexByte(s, '@'); {
	case err == nil && s[0] == '"':
		return unquoted(unescape(s[1:i-1]) + s[i:])
	case err != nil && i > 0 && !strings.ContainsAny(s[:i], " \t\"\\<>()[]@,;:"):
		return unquoted(s) // dots out of place
	}
	return a, err
}

// unescape resolves the quoted pairs of a quoted string.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
