package rules

import (
	"context"

	"qrunner/lists"
)

func maxSize(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	limit := p.List.Settings.Int("max_message_size")
	if limit == 0 || p.Size <= limit<<10 {
		return nil, nil
	}
	return hit("it has %d KiB, more than %d", (p.Size+1023)>>10, limit)
}
