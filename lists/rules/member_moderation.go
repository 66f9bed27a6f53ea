package rules

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// memberModeration asks for each author who is a member; others defer.
func memberModeration(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	action, who := severest(authors(p), func(a mailaddr.Address) lists.Action {
		if m, ok := p.List.Roster.Find(lists.RoleMember, a); ok {
			return memberAction(p.List, m)
		}
		return lists.ActionDefer
	})
	if action == lists.ActionDefer {
		return nil, nil
	}
	h, err := hit("posts of the member %s are moderated: %s", shown(who), action)
	h.Action = action
	return h, err
}
