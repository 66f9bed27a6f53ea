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
	return hitWith(action, p.List.Settings.Text("member_moderation_notice"), "posts of the member %s are moderated: %s", shown(who), action)
}

// memberAction is what happens to a member's posts.
func memberAction(l *lists.List, m *lists.Member) lists.Action {
	if m.Action != "" {
		return m.Action
	}
	return defaultAction(l, "default_member_action")
}
