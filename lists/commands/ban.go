package commands

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
)

// ban adds to the ban list that is in force, wherever that comes from.
func ban(r *Request) (Result, error) {
	who, err := r.author()
	if err != nil {
		return Result{}, err
	}
	res := Result{Held: lists.ActionDiscard}
	set := r.State.List().Settings
	banned, err := set.Patterns("ban_list")
	if err != nil {
		return Result{}, refuse("the ban list cannot be changed: %v", err)
	}
	for _, p := range banned {
		if p.Match(who) {
			return res, nil
		}
	}
	value := strings.TrimRight(set.Text("ban_list"), "\n") + "\n" + string(who)
	res.Changes = []store.Change{store.SetSetting{Name: "ban_list", Value: strings.TrimPrefix(value, "\n")}}
	return res, nil
}
