package rules

import (
	"context"
	"strings"

	"qrunner/lists"
)

// anyHit sums up the hits that were deferred; the first of them names the verdict.
func anyHit(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if len(p.Hits) == 0 {
		return nil, nil
	}
	reasons := make([]string, len(p.Hits))
	for i, h := range p.Hits {
		reasons[i] = h.Reason
	}
	return &lists.Hit{Rule: p.Hits[0].Rule, Reason: strings.Join(reasons, "; ")}, nil
}
