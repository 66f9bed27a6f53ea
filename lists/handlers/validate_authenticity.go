package handlers

import (
	"context"

	"qrunner/lists"
)

func validateAuthenticity(ctx context.Context, p *lists.Post) error {
	if p.Authority == nil {
		return nil
	}
	return p.Authority.Check(ctx, p)
}

func sign(ctx context.Context, p *lists.Post) error {
	if p.Authority == nil {
		return nil
	}
	return p.Authority.Sign(ctx, p)
}
