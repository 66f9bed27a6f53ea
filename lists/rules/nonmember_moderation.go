package rules

import (
	"context"
	"fmt"

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
func nonmemberModeration(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	var bad error
	action, who := severest(authors(p), func(a mailaddr.Address) lists.Action {
		if _, ok := p.List.Roster.Find(lists.RoleMember, a); ok {
			return lists.ActionDefer
		}
		act, err := nonmemberAction(p.List, a)
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
	h, err := hit("%s is not a member: %s", shown(who), action)
	h.Action = action
	return h, err
}

// nonmemberAction is the roster's word on a nonmember, else the settings', else the
// default.
func nonmemberAction(l *lists.List, a mailaddr.Address) (lists.Action, error) {
	if m, ok := l.Roster.Find(lists.RoleNonmember, a); ok && m.Action != "" {
		return m.Action, nil
	}
	for _, row := range theseNonmembers {
		_, ok, err := matches(l, row.setting, a)
		if err != nil {
			return lists.ActionHold, err
		}
		if ok {
			return row.action, nil
		}
	}
	return lists.Action(l.Settings.Text("default_nonmember_action")), nil
}

// matches finds the first pattern of a setting that fits one of the addresses.
func matches(l *lists.List, setting string, as ...mailaddr.Address) (mailaddr.Address, bool, error) {
	ps, err := lists.ParsePatterns(l.Settings.Text(setting))
	if err != nil {
		return "", false, fmt.Errorf("read setting %s: %w", setting, err)
	}
	for _, p := range ps {
		for _, a := range as {
			if !a.Null() && p.Match(a) {
				return a, true, nil
			}
		}
	}
	return "", false, nil
}
