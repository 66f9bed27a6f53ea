package commands

import (
	"strings"

	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

func confirm(a *Asked) (subscribe.Result, error) {
	if len(a.args()) == 0 {
		return subscribe.Result{}, refuse("it takes the token of the mail that asked to confirm something")
	}
	return Confirm(a.Desk, strings.Trim(a.args()[0], ".,:;<>()"))
}

// Confirm carries out the request that a token is for, whoever brings it: a *Refusal if it
// is for none. What comes of it belongs into one commit, under the list's lock, with a desk
// of the state that is held; the token is used then. subscribe.Find shows what would be
// confirmed and changes nothing.
func Confirm(d subscribe.Desk, token string) (subscribe.Result, error) {
	p, ok := subscribe.Find(d.State, token, d.At)
	if !ok || p.State != store.PendingConfirm {
		return subscribe.Result{}, refuse("%s", Gone)
	}
	return d.Confirm(p)
}

// Gone is what somebody hears whose token is for nothing.
const Gone = "this was done already, or it has expired, or it was never asked for: nothing waits for this token"
