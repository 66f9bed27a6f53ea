package rules

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// theseNonmembers are the settings that name nonmembers, in the order of asking.
var theseNonmembers = []struct {
	setting string
	action  lists.Action
}{
	{"accept_these_nonmembers", lists.ActionAccept},
	{"hold_these_nonmembers", lists.ActionHold},
	{"reject_these_nonmembers", lists.ActionReject},
	{"discard_these_nonmembers", lists.ActionDiscard},
}

// nonmemberModeration asks for each author who is not a member; members defer.
func nonmemberModeration(ctx context.Context, p *lists.Post) (*lists.Hit, error) {
	var bad error
	action, who := severest(authors(p), func(a mailaddr.Address) lists.Action {
		if _, ok := p.List.Roster.Find(lists.RoleMember, a); ok {
			return lists.ActionDefer
		}
		act, err := nonmemberAction(ctx, p, a)
		if err != nil {
			bad = err
		}
		return act
	})
	if bad != nil {
		return nil, bad
	}
	if action == lists.ActionDefer {
		return nil, nil
	}
	return hitWith(action, p.List.Settings.Text("nonmember_rejection_notice"), "%s is not a member: %s", shown(who), action)
}

// nonmemberAction is the roster's word on a nonmember, else the settings', else the
// default. Nobody gets in by being unreadable.
func nonmemberAction(ctx context.Context, p *lists.Post, a mailaddr.Address) (lists.Action, error) {
	if m, ok := p.List.Roster.Find(lists.RoleNonmember, a); ok && m.Action != "" {
		return m.Action, nil
	}
	for _, row := range theseNonmembers {
		_, ok, err := matches(ctx, p, row.setting, a)
		if err != nil {
			return lists.ActionHold, err
		}
		if ok {
			return row.action, nil
		}
	}
	action := defaultAction(p.List, "default_nonmember_action")
	if a.Null() && harder(lists.ActionHold, action) {
		return lists.ActionHold, nil
	}
	return action, nil
}
