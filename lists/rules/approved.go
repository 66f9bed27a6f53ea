package rules

import (
	"context"
	"crypto/subtle"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"qrunner/lists"
)

// ApprovedHeaders are the fields that may carry the moderator's password. They never
// leave with a post, whatever rule let it pass.
var ApprovedHeaders = []string{"Approved", "Approve", "X-Approved", "X-Approve"}

// approved: a password in the first line of the text counts too. One that could not be
// taken out of the post again sends it back to its author.
func approved(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	want := p.List.Settings.Text("moderator_password")
	if want == "" {
		return nil, nil
	}
	for _, name := range ApprovedHeaders {
		// One try per field name: a hash takes its time to compare.
		if got := p.Message.Get(name); got != "" && samePassword(want, got) {
			return hit("the header %s carries the moderator's password", name)
		}
	}
	_, found, clean := ApprovalLine(p.Message, want)
	switch {
	case !found:
		return nil, nil
	case !clean:
		h, err := hit("the line with the password (Approved:) stands in another part of the message too, where it cannot be removed; send plain text")
		h.Action = lists.ActionReject
		return h, err
	}
	return hit("the first line carries the moderator's password")
}

func samePassword(want, got string) bool {
	if strings.HasPrefix(want, "$2") {
		return bcrypt.CompareHashAndPassword([]byte(want), []byte(got)) == nil
	}
	return subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}
