package rules

import (
	"context"
	"strings"

	"qrunner/lists"
)

func implicitDest(ctx context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.List.Settings.Bool("require_explicit_destination") {
		return nil, nil
	}
	named := p.Message.Addresses("To", "Cc", "Resent-To", "Resent-Cc")
	for _, a := range named {
		if strings.EqualFold(string(a), string(p.List.ID.Posting())) {
			return nil, nil
		}
	}
	if _, ok, err := matches(ctx, p, "acceptable_aliases", named...); ok || err != nil {
		return nil, err
	}
	return hit("neither To nor Cc names %s", p.List.ID.Posting())
}
