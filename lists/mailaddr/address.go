// Package mailaddr parses mail addresses once, at the border, and codes VERP
// addresses.
package mailaddr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Address is a mailbox (RFC 5321 §4.1.2, RFC 6531 §3.3): local part as given, "@",
// domain in lower case with internationalised labels as A-labels. The zero value
// is the null reverse-path. Made by Parse only.
type Address string

// Limits of RFC 5321 §4.5.3.1, in octets.
const (
	MaxLocal  = 64
	MaxDomain = 255
	maxPath   = 254 // a path of 256 octets less its angle brackets
)

// ErrSyntax: the text is not a mailbox.
var ErrSyntax = errors.New("not a mail address")

// Parse reads an addr-spec without display name or angle brackets. Quoted local
// parts are allowed; a local part longer than MaxLocal is allowed too (we may have
// made it ourselves, and refusing it would lose mail), the whole is bounded.
func Parse(s string) (Address, error) {
	local, domain, err := split(s)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrSyntax, clip(s), err)
	}
	domain, err = normalDomain(domain)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrSyntax, clip(s), err)
	}
	return Address(local + "@" + domain), nil
}

// ParsePath reads the path of MAIL or RCPT: angle brackets optional, the empty
// path allowed (the null sender), a source route dropped (RFC 5321 §4.1.1.3).
func ParsePath(s string) (Address, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		s = s[1 : len(s)-1]
	}
	if s == "" {
		return "", nil
	}
	if strings.HasPrefix(s, "@") {
		if i := strings.IndexByte(s, ':'); i > 0 {
			s = s[i+1:]
		}
	}
	return Parse(s)
}

// Local is the part before the last "@", as given.
func (a Address) Local() string { return string(a[:max(a.at(), 0)]) }

// Domain is the part behind the last "@", in lower case.
func (a Address) Domain() string { return string(a[a.at()+1:]) }

// UnicodeDomain is the domain as people write it: internationalised labels in Unicode.
func (a Address) UnicodeDomain() string {
	if u, err := idna.Lookup.ToUnicode(a.Domain()); err == nil {
		return u
	}
	return a.Domain()
}

func (a Address) at() int { return strings.LastIndexByte(string(a), '@') }

// Key is the form to compare and to index by: all lower case. Local parts are case
// sensitive in theory only; Mailman and its kin compare as we do.
func (a Address) Key() string { return strings.ToLower(string(a)) }

// Null reports whether a is the null reverse-path.
func (a Address) Null() bool { return a == "" }

// ASCII reports whether a can be sent without SMTPUTF8 (RFC 6531).
func (a Address) ASCII() bool {
	for i := range len(a) {
		if a[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// String is the address as it stands in a path, without brackets.
func (a Address) String() string { return string(a) }

func split(s string) (local, domain string, err error) {
	i := strings.LastIndexByte(s, '@')
	switch {
	case i < 0:
		return "", "", errors.New("no @")
	case i == 0:
		return "", "", errors.New("nothing before the @")
	case i == len(s)-1:
		return "", "", errors.New("nothing behind the @")
	case len(s) > 4*maxPath:
		return "", "", errors.New("too long")
	case !utf8.ValidString(s):
		return "", "", errors.New("not UTF-8")
	}
	local, domain = s[:i], s[i+1:]
	if err := checkLocal(local); err != nil {
		return "", "", err
	}
	return local, domain, nil
}

func checkLocal(local string) error {
	if local[0] == '"' {
		return checkQuoted(local)
	}
	dot := true // a dot may not come first
	for _, r := range local {
		switch {
		case r == '.' && dot:
			return errors.New("misplaced dot")
		case r == '.', r >= utf8.RuneSelf, r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r):
		default:
			return fmt.Errorf("character %q needs quoting", r)
		}
		dot = r == '.'
	}
	if dot {
		return errors.New("misplaced dot")
	}
	return nil
}

func checkQuoted(local string) error {
	body := local[1:]
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
			if i >= len(body) || body[i] < ' ' || body[i] == 0x7f {
				return errors.New("bad escape in quoted local part")
			}
		case c == '"':
			if i != len(body)-1 || i == 0 {
				return errors.New("misplaced quote")
			}
			return nil
		case c < ' ' || c == 0x7f:
			return errors.New("control character")
		}
	}
	return errors.New("unclosed quote")
}

func normalDomain(d string) (string, error) {
	if strings.HasPrefix(d, "[") {
		if !strings.HasSuffix(d, "]") || len(d) < 3 || strings.ContainsFunc(d[1:len(d)-1], badLiteralRune) {
			return "", errors.New("bad address literal")
		}
		return strings.ToLower(d), nil
	}
	out, err := idna.Lookup.ToASCII(strings.TrimSuffix(d, "."))
	if err != nil {
		// Underscores and the like are no host names, but mail is sent from them.
		out = strings.ToLower(d)
	}
	if len(out) > MaxDomain {
		return "", errors.New("domain too long")
	}
	for label := range strings.SplitSeq(out, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, badDomainRune) {
			return "", fmt.Errorf("bad domain %q", clip(out))
		}
	}
	return out, nil
}

func badDomainRune(r rune) bool {
	return !(r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
}

// badLiteralRune: what is no dcontent of RFC 5321 §4.1.3, or could end a path.
func badLiteralRune(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`[]\<>@,;`, r)
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
