package stage

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/queue"
)

// request is the request for membership that a moderator's mail is about: the one whose
// token it carries, or, with the password, the one that its only command names.
func (a asked) request(w *queue.Work) (store.Pending, bool) {
	p, ok := subscribe.Find(w.State, a.token, w.Entry.Received)
	if !ok && a.password && len(a.calls) == 1 {
		p, ok = w.State.Pending(a.calls[0].ID, w.Entry.Received)
	}
	return p, ok && p.State == store.PendingModerate
}

// decideRequest does what a moderator's mail says about a request.
func (s *command) decideRequest(ctx context.Context, w *queue.Work, a asked, p store.Pending) (*queue.Outcome, error) {
	if len(a.calls) != 1 || a.calls[0].ID != "" && a.calls[0].ID != p.ID {
		return s.undecided(w, a, p, "It takes one of the commands, on a line of its own."), nil
	}
	held, err := decision{call: a.calls[0]}.about()
	if err != nil {
		return s.undecided(w, a, p, err.Error()), nil
	}
	d := s.desk(w, a.m)
	res, err := d.Decide(p, held, a.calls[0].Text)
	if why, ok := commands.Refused(err); ok {
		return s.undecided(w, a, p, why), nil
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s: request %s: %w", w.Entry.ID, p.ID, err)
	}
	o, err := s.c.Carry(ctx, d, res)
	if err != nil {
		return nil, fmt.Errorf("entry %s: request %s: %w", w.Entry.ID, p.ID, err)
	}
	o.Reason = a.calls[0].Command.Name + " " + p.ID + ": " + o.Reason
	return o, nil
}

// about is what a command says of a request; some say something of posts only.
func (d decision) about() (lists.Action, error) {
	for _, a := range []lists.Action{lists.ActionAccept, lists.ActionReject, lists.ActionDiscard} {
		if d.call.Command.Name == string(a) {
			return a, nil
		}
	}
	return "", fmt.Errorf("%q is about posts; a request is accepted, rejected or discarded", d.call.Command.Name)
}

// undecided tells a moderator why nothing was done; the answer to it can decide.
func (s *command) undecided(w *queue.Work, a asked, p store.Pending, why string) *queue.Outcome {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nNothing was changed.\n\n%s\n\nWhat waits: %s (%s).\n\n", commands.Marker, plain(why), p.Address, subscribe.Describe(p))
	b.WriteString("To decide, write one of these on a line of its own, at the very top:\n\n    accept\n    reject: why\n    discard\n")
	o := &queue.Outcome{Event: "refused", Reason: why}
	token := subscribe.Token(p)
	n := answer(w.Entry, a.m, "confirm "+token+": nothing was changed", b.String())
	n.replyTo = commands.ConfirmAddress(w.List.ID, token)
	reply(w, o, n)
	return o
}
