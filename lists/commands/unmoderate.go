package commands

import (
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

func unmoderate(r *Request) (Result, error) {
	who, err := r.author()
	if err != nil {
		return Result{}, err
	}
	if _, ok := r.State.List().Roster.Find(lists.RoleMember, who); !ok {
		return Result{}, refuse("%s is not a member; \"accept always\" lets a nonmember post", who)
	}
	return Result{Held: lists.ActionAccept, Changes: []store.Change{subscribe.Moderate(r.State.List(), who, lists.ActionDefer)}}, nil
}
