package commands

import (
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

func acceptAlways(r *Request) (Result, error) { return r.always(lists.ActionAccept) }

func discardAlways(r *Request) (Result, error) { return r.always(lists.ActionDiscard) }

// always does something with the post and with all that its author will post.
func (r *Request) always(action lists.Action) (Result, error) {
	who, err := r.author()
	if err != nil {
		return Result{}, err
	}
	return Result{Held: action, Changes: []store.Change{subscribe.Moderate(r.State.List(), who, action)}}, nil
}
