package subscribe

import (
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/templates"
)

// Confirm carries on with a request whose token has come back from the address concerned:
// it is done, or goes to the moderators, or a refusal says why it cannot be done any more.
// The request is closed in any case. Who brings the token back does not matter: he has it.
func (d Desk) Confirm(p store.Pending) (Result, error) {
	a := asks(p)
	a.Confirmed, a.Approved = true, p.Kind == store.PendingInvite
	return d.conclude(p, a)
}

// Decide carries out what a moderator wants to become of a request: ActionAccept,
// ActionReject (the one who asked hears why), ActionDiscard. What waits for the address's
// own confirmation cannot be accepted in its place.
func (d Desk) Decide(p store.Pending, action lists.Action, why string) (Result, error) {
	switch action {
	case lists.ActionAccept:
		if p.State != store.PendingModerate {
			return refused(refuse("the request of %s waits for %s to confirm it; a moderator cannot", p.Address, p.Address))
		}
		a := asks(p)
		a.Confirmed, a.Approved = true, true
		return d.conclude(p, a)
	case lists.ActionReject:
		return Result{
			Event: "refused", Reason: Describe(p) + ": " + string(p.Address) + " was refused by " + d.By, Said: "Refused: " + string(p.Address) + ", " + Describe(p) + ".",
			Changes: []store.Change{store.ClosePending{ID: p.ID}},
			Notices: []Notice{{
				To: p.Address, Template: templates.UserRefuse, Lang: Language(d.list(), p.Address),
				Vars: templates.Vars{"user_email": string(p.Address), "request": Describe(p), "reasons": why},
			}},
		}, nil
	case lists.ActionDiscard:
		return Result{
			Event: "discarded", Reason: Describe(p) + ": " + string(p.Address) + " was discarded by " + d.By,
			Said:    "Discarded: " + string(p.Address) + ", " + Describe(p) + ".",
			Changes: []store.Change{store.ClosePending{ID: p.ID}},
		}, nil
	}
	return Result{}, refuse("a request is accepted, rejected or discarded, nothing else")
}

// conclude closes a request and hands it in again with what is known now.
func (d Desk) conclude(p store.Pending, a Ask) (Result, error) {
	d, err := d.after(store.ClosePending{ID: p.ID})
	if err != nil {
		return Result{}, err
	}
	d.Trusted = true // the token, or the moderator, has the right to hear the truth
	out, err := d.Request(a)
	if out.Event == "silenced" { // the other address of a change gets no more mail today
		out.Said = "Too much was asked today already; please answer the same mail again tomorrow."
		return out, err
	}
	out.Changes = append([]store.Change{store.ClosePending{ID: p.ID}}, out.Changes...)
	return out, err
}
