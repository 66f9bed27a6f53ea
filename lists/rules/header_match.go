package rules

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// headerMatch: the first line that fits decides, the site's lines (header_checks) before
// the list's; one that says defer ends the search.
func headerMatch(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	for _, setting := range []string{"header_checks", "header_matches"} {
		m, err := matchHeaders(p, setting)
		if err != nil || m != nil && m.Action == lists.ActionDefer {
			return nil, err
		}
		if m != nil {
			return hitWith(m.Action, "", "%s matches %s", m.Header, pattern(m))
		}
	}
	return nil, nil
}

// Discards reports whether the site's header checks discard a message, such as spam: what is
// no post, but asks for something, is not answered then.
func Discards(p *lists.Post) (bool, error) {
	m, err := matchHeaders(p, "header_checks")
	return m != nil && m.Action == lists.ActionDiscard, err
}

// matchHeaders compares with the value as it came and as it reads: neither an unknown
// charset nor an encoding hides anything.
func matchHeaders(p *lists.Post, setting string) (*lists.HeaderMatch, error) {
	ms, err := p.List.Settings.HeaderMatches(setting)
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		for _, f := range p.Message.Fields() {
			if !strings.EqualFold(f.Name, m.Header) {
				continue
			}
			if v := f.Value(); m.Pattern.MatchString(v) || m.Pattern.MatchString(message.DecodeHeader(v)) {
				return &m, nil
			}
		}
	}
	return nil, nil
}

// pattern is a match's regular expression as it was written.
func pattern(m *lists.HeaderMatch) string { return strings.TrimPrefix(m.Pattern.String(), "(?i)") }
