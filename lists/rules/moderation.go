package rules

import (
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
		if i == 0 || harder(act, worst) {
			worst, who = act, a
		}
	}
	return worst, who
}

func harder(a, b lists.Action) bool { return slices.Index(severity, a) > slices.Index(severity, b) }

// defaultAction is what happens to posts of people for whom nothing else is said. On a
// list that takes no posts they wait; who may post has an action of his own.
func defaultAction(l *lists.List, setting string) lists.Action {
	action := lists.Action(l.Settings.Text(setting))
	if !l.Settings.Bool("allow_list_posts") && harder(lists.ActionHold, action) {
		return lists.ActionHold
	}
	return action
}
