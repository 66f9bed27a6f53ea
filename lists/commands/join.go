package commands

import (
	"strings"

	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// join also takes Mailman 2's words: digest, nodigest.
func join(a *Asked) (subscribe.Result, error) {
	for i, w := range a.args() {
		switch strings.ToLower(w) {
		case "digest":
			a.Lines[0][i] = "digest=mime"
		case "nodigest":
			a.Lines[0][i] = "digest=no"
		}
	}
	opts, err := a.options("digest", "address")
	if err != nil {
		return subscribe.Result{}, err
	}
	who, err := a.about(opts["address"])
	if err != nil {
		return subscribe.Result{}, err
	}
	ask := subscribe.Ask{Kind: store.PendingJoin, Address: who}
	if who == a.From {
		ask.Name = a.Name
	}
	if word := opts["digest"]; word != "" {
		mode, ok := subscribe.DigestMode(word)
		if !ok {
			return subscribe.Result{}, refuse("digest is one of: no, plain, mime")
		}
		ask.Mode = mode
	}
	return a.Request(ask)
}
