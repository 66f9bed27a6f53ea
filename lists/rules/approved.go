package rules

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/message"
)

// ApprovedHeaders are the fields that may carry the moderator's password. They never
// leave with a post, whatever rule let it pass.
var ApprovedHeaders = []string{"Approved", "Approve", "X-Approved", "X-Approve"}

// approved: a password in the first line of the text counts too. One that could not be
// taken out of the post again sends it back to its author.
func approved(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	where, clean := FindPassword(p.Message, p.List)
	switch {
	case where == "":
		return nil, nil
	case !clean:
		return hitWith(lists.ActionReject, "", "the line with the password (Approved:) stands in another part of the message too, where it cannot be removed; send plain text")
	}
	return hit("%s carries the moderator's password", where)
}

// FindPassword says where a message carries the list's moderator password; "" if it does
// not. clean is false if the password could not be taken out again. Only the first field
// of ApprovedHeaders that is there is tried: a hash takes its time to compare.
func FindPassword(m *message.Message, l *lists.List) (where string, clean bool) {
	want := l.Settings.Text("moderator_password")
	if want == "" {
		return "", true
	}
	for _, name := range ApprovedHeaders {
		got := m.Get(name)
		if got == "" {
			continue
		}
		if samePassword(want, got) {
			return "the header " + name, true
		}
		break
	}
	_, found, clean := ApprovalLine(m, want)
	if !found {
		return "", true
	}
	return "the first line", clean
}
