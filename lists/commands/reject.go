package commands

import (
	"cmp"

	"qrunner/lists"
)

// noReason is what a poster reads when the moderator gave no reason.
const noReason = "The list's moderators have rejected your post."

func reject(r *Request) (Result, error) {
	return Result{Held: lists.ActionReject, Reason: cmp.Or(r.Text, noReason)}, nil
}
