package rules

import (
	"context"

	"qrunner/lists"
)

func suspiciousHeader(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	m, err := matchHeaders(p, "bounce_matching_headers")
	if m == nil || err != nil {
		return nil, err
	}
	return hit("%s matches %s", m.Header, pattern(m))
}
