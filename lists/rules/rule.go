package rules

import (
	"context"
	"fmt"

	"qrunner/lists"
)

// Rule is a row of a chain.
type Rule struct {
	// Name is Mailman's name of the rule; it stands in headers, logs and notices.
	Name string
	// Check looks at a post and says what it found; nil means nothing. It changes
	// nothing. A hit that comes with a rule's name sums up what others found and is
	// not noted as one more. An error means that it could not tell: the post waits,
	// and is asked about again.
	Check func(context.Context, *lists.Post) (*lists.Hit, error)
	// Chain is where a hit leads (lists/chains has the table of chains); empty: the hit
	// is noted, and the rule "any" decides.
	Chain string
	// Doc is one sentence for the manual.
	Doc string
}

// hit is a finding in words.
func hit(format string, args ...any) (*lists.Hit, error) {
	return &lists.Hit{Reason: fmt.Sprintf(format, args...)}, nil
}

// hitWith is a finding that says itself what follows.
func hitWith(action lists.Action, notice, format string, args ...any) (*lists.Hit, error) {
	return &lists.Hit{Action: action, Notice: notice, Reason: fmt.Sprintf(format, args...)}, nil
}
