package rules

import (
	"cmp"
	"slices"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// severity orders the moderation actions: of several authors the severest decides,
// and a post is accepted outright only if that goes for every one of them.
var severity = []lists.Action{lists.ActionAccept, lists.ActionDefer, lists.ActionHold, lists.ActionReject, lists.ActionDiscard}

// severest is the severest of the authors' actions and the first author it is for.
func severest(authors []mailaddr.Address, action func(mailaddr.Address) lists.Action) (lists.Action, mailaddr.Address) {
	worst, who := lists.ActionAccept, mailaddr.Address("")
	for i, a := range authors {
		act := action(a)
		if i == 0 || slices.Index(severity, act) > slices.Index(severity, worst) {
			worst, who = act, a
		}
	}
	return worst, who
}

// memberAction is what happens to a member's posts.
func memberAction(l *lists.List, m *lists.Member) lists.Action {
	return cmp.Or(m.Action, lists.Action(l.Settings.Text("default_member_action")))
}
