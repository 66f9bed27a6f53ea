package commands

import (
	"strings"

	"qrunner/lists/subscribe"
)

// wish takes an act that an owner has written down; askOwner asks him about all of a mail
// at once. Who is no owner is refused. What the act would come to is said only if the
// answer goes to the owner himself.
func (a *Asked) wish(acts ...string) (subscribe.Result, error) {
	if err := a.owner(); err != nil {
		return subscribe.Result{}, err
	}
	var said []string
	for _, one := range acts {
		if err := a.Try(one); err != nil {
			why, ok := Refused(err)
			if !ok {
				return subscribe.Result{}, err
			}
			if a.self() == nil {
				said = append(said, shown(one)+": "+why)
				continue
			}
		}
		a.acts = append(a.acts, one)
	}
	res := subscribe.Result{Event: "refused", Reason: "owner's command", Said: strings.Join(said, "\n")}
	if len(said) < len(acts) {
		res.Event = "answered"
	}
	return res, nil
}

// owner refuses whoever is no owner, if it is he.
func (a *Asked) owner() error {
	if a.From.Null() {
		return refuse("only the list's owners may do this, and the mail has no author, or several")
	}
	return a.IsOwner(a.From)
}

// askOwner sends the token for all that an owner wants done.
func askOwner(a *Asked) (subscribe.Result, error) {
	acts := a.acts
	a.acts = nil
	return a.Request(subscribe.Owner(a.From, acts))
}

// each makes an act of every line of a block, and of the words behind the verb; one for
// each word if that is how they are written.
func (a *Asked) each(name string) (out []string) {
	if words := a.args(); len(words) > 0 {
		if strings.ContainsAny(strings.Join(words, ""), "<\"") {
			words = []string{strings.Join(words, " ")}
		}
		for _, w := range words {
			out = append(out, name+" "+w)
		}
	}
	for _, line := range a.Block {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, name+" "+strings.Join(strings.Fields(line), " "))
		}
	}
	return out
}
