package rules

import (
	"context"

	"qrunner/lists"
)

func bannedAddress(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	who, ok, err := matches(p.List, "ban_list", everySender(p)...)
	if err != nil || !ok {
		return nil, err
	}
	return hit("%s is banned", who)
}
