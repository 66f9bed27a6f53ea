package rules

import (
	"context"

	"qrunner/lists"
)

func emergency(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.List.Settings.Bool("emergency") {
		return nil, nil
	}
	return hit("the list is in emergency mode")
}
