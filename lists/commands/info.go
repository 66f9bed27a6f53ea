package commands

import (
	"qrunner/lists"
	"qrunner/lists/subscribe"
)

func info(a *Asked) (subscribe.Result, error) {
	l := a.State.List()
	set := l.Settings
	lines := []string{"Posting address:  " + string(l.ID), "Description:      " + shown(set.Text("description"))}
	if text := set.Text("info"); text != "" {
		lines = append(lines, "", text, "")
	}
	lines = append(lines,
		"To join, write to:   "+string(l.ID.Address(lists.SubJoin)),
		"To leave, write to:  "+string(l.ID.Address(lists.SubLeave)),
		"The people in charge: "+string(l.ID.Address(lists.SubOwner)))
	return answered("info", lines...)
}
