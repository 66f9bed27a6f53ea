package lists

import (
	"fmt"
	"regexp"
	"strings"

	"qrunner/lists/mailaddr"
)

// Pattern is one line of a setting such as ban_list: an address, a regular expression
// (RE2) if it starts with "^", or, where a setting allows that, the members of another
// list: "@" and its posting address. Case does not count.
type Pattern struct {
	Text string
	// List is set for the members of another list.
	List ID
	key  string // of an address
	re   *regexp.Regexp
}

// ParsePatterns reads one pattern a line; empty lines do not count.
func ParsePatterns(v string) ([]Pattern, error) {
	var out []Pattern
	for line := range strings.Lines(v) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		p, err := parsePattern(line)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func parsePattern(text string) (Pattern, error) {
	switch text[0] {
	case '^':
		re, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return Pattern{}, fmt.Errorf("%q: %w", text, err)
		}
		return Pattern{Text: text, re: re}, nil
	case '@':
		id, err := ParseID(text[1:])
		if err != nil {
			return Pattern{}, fmt.Errorf("%q: %w", text, err)
		}
		return Pattern{Text: text, List: id}, nil
	}
	a, err := mailaddr.Parse(text)
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is neither an address nor a regular expression that starts with ^", text)
	}
	return Pattern{Text: text, key: a.Key()}, nil
}

// Match reports whether the pattern fits the address. Another list's members are the
// caller's to look up.
func (p Pattern) Match(a mailaddr.Address) bool {
	if p.re != nil {
		return p.re.MatchString(a.Key())
	}
	return p.key != "" && p.key == a.Key()
}

// patterns checks a setting of addresses and regular expressions.
func patterns(v string) error {
	ps, err := ParsePatterns(v)
	for _, p := range ps {
		if p.List != "" {
			return fmt.Errorf("%q: members of other lists can be named in *_these_nonmembers only", p.Text)
		}
	}
	return err
}

// nonmembers checks a setting that may name other lists too.
func nonmembers(v string) error {
	_, err := ParsePatterns(v)
	return err
}
