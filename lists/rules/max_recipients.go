package rules

import (
	"context"

	"qrunner/lists"
)

func maxRecipients(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	limit := p.List.Settings.Int("max_num_recipients")
	n := int64(len(p.Message.Addresses("To", "Cc")))
	if limit == 0 || n < limit {
		return nil, nil
	}
	return hit("To and Cc have %d addresses; %d are too many", n, limit)
}
