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
	return nil, nil
}

func samePassword(want, got string) bool {
	if strings.HasPrefix(want, "$2") {
		return bcrypt.CompareHashAndPassword([]byte(want), []byte(got)) == nil
	}
	return subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}
