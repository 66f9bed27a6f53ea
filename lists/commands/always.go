package commands

import (
	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

func acceptAlways(r *Request) (Result, error) { return r.always(lists.ActionAccept) }

func discardAlways(r *Request) (Result, error) { return r.always(lists.ActionDiscard) }

// always does something with the post and with all that its author will post.
func (r *Request) always(action lists.Action) (Result, error) {
	who, err := r.author()
	if err != nil {
		return Result{}, err
	}
	return Result{Held: action, Changes: []store.Change{moderate(r.State.List(), who, action)}}, nil
}

// moderate gives an author a moderation action: as a member if that is what he is, else
// as a nonmember.
func moderate(l *lists.List, who mailaddr.Address, action lists.Action) store.Change {
	for _, role := range []lists.Role{lists.RoleMember, lists.RoleNonmember} {
		if old, ok := l.Roster.Find(role, who); ok {
			m := *old
			m.Action = action
			return store.SetMember{Member: m}
		}
	}
	return store.AddMember{Member: lists.Member{Address: who, Role: lists.RoleNonmember, Action: action}}
}
