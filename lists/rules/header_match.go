package rules

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// headerMatch: the first line of header_matches that fits decides; one that says
// defer ends the search.
func headerMatch(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	m, err := matchHeaders(p, "header_matches")
	if m == nil || m.Action == lists.ActionDefer || err != nil {
		return nil, err
	}
	h, err := hit("%s matches %s", m.Header, m.Pattern)
	h.Action = m.Action
	return h, err
}

func suspiciousHeader(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	m, err := matchHeaders(p, "bounce_matching_headers")
	if m == nil || err != nil {
		return nil, err
	}
	return hit("%s matches %s", m.Header, m.Pattern)
}

// matchHeaders compares with the value as it came and as it reads: neither an unknown
// charset nor an encoding hides anything.
func matchHeaders(p *lists.Post, setting string) (*lists.HeaderMatch, error) {
	ms, err := lists.ParseHeaderMatches(p.List.Settings.Text(setting))
	if err != nil {
		return nil, fmt.Errorf("read setting %s: %w", setting, err)
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
