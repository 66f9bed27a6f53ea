package rules

import (
	"context"

	"qrunner/lists"
)

func bannedAddress(ctx context.Context, p *lists.Post) (*lists.Hit, error) {
	for _, by := range []struct{ setting, where string }{{"site_ban_list", "from this site"}, {"ban_list", "from this list"}} {
		who, ok, err := matches(ctx, p, by.setting, everySender(p)...)
		if err != nil {
			return nil, err
		}
		if ok {
			return hit("%s is banned %s", who, by.where)
		}
	}
	return nil, nil
}
