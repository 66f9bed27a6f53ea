package lists

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"qrunner/lists/mailaddr"
)

// Pattern is one line of a setting such as ban_list: an address, or a regular
// expression (RE2) if it starts with "^". Case does not count.
type Pattern struct {
	Text string
	re   *regexp.Regexp
}

// ParsePatterns reads one pattern a line; empty lines do not count.
func ParsePatterns(v string) ([]Pattern, error) {
	var out []Pattern
	for line := range strings.Lines(v) {
		p := Pattern{Text: strings.TrimSpace(line)}
		switch {
		case p.Text == "":
			continue
		case p.Text[0] == '^':
			re, err := regexp.Compile("(?i)" + p.Text)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", p.Text, err)
			}
			p.re = re
		default:
			if _, err := mailaddr.Parse(p.Text); err != nil {
				return nil, fmt.Errorf("%q is neither an address nor a regular expression that starts with ^", p.Text)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// Match reports whether the pattern fits the address.
func (p Pattern) Match(a mailaddr.Address) bool {
	if p.re != nil {
		return p.re.MatchString(a.Key())
	}
	return strings.EqualFold(p.Text, string(a))
}

// HeaderMatch is one line of header_matches: "[action] header: regular expression".
type HeaderMatch struct {
	Action  Action // empty where the line names none
	Header  string
	Pattern *regexp.Regexp
}

// ParseHeaderMatches reads one header match a line; empty lines do not count.
func ParseHeaderMatches(v string) ([]HeaderMatch, error) {
	var out []HeaderMatch
	for line := range strings.Lines(v) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		head, pattern, ok := strings.Cut(line, ":")
		words := strings.Fields(head)
		if !ok || len(words) == 0 || len(words) > 2 {
			return nil, fmt.Errorf("%q is not of the form: action header: regular expression", line)
		}
		h := HeaderMatch{Header: words[len(words)-1]}
		if len(words) == 2 {
			h.Action = Action(words[0])
		}
		if !slices.Contains([]Action{"", ActionAccept, ActionHold, ActionReject, ActionDiscard, ActionDefer}, h.Action) {
			return nil, fmt.Errorf("%q is no action", words[0])
		}
		var err error
		if h.Pattern, err = regexp.Compile("(?i)" + strings.TrimSpace(pattern)); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, h)
	}
	return out, nil
}

func patterns(v string) error {
	_, err := ParsePatterns(v)
	return err
}

func headerMatches(v string) error {
	_, err := ParseHeaderMatches(v)
	return err
}
