package stage

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// carryOut makes one outcome of all decisions: all or none.
func (s *command) carryOut(ctx context.Context, w *queue.Work, a asked, todo []decision) (*queue.Outcome, error) {
	by := or(from(s.c.post(w)), "a moderator") + ", by mail"
	o := &queue.Outcome{Event: "moderated"}
	var said []string
	state := w.State
	for _, d := range todo {
		one, err := s.one(ctx, state, d, by)
		why, refused := commands.Refused(err)
		switch {
		case refused:
			return unchanged(w, a, "The command \""+d.call.Command.Name+"\" cannot be carried out: "+why+"."), nil
		case err != nil && Unreadable(err):
			return unchanged(w, a, "The file of the held post cannot be read; all that can be done is to discard it. The site's operators may look: qrunner list verify."), nil
		case err != nil:
			return nil, fmt.Errorf("entry %s: held post %s: %w", w.Entry.ID, d.post.ID, err)
		}
		if state, err = state.With(w.Entry.Received, one.Changes...); err != nil {
			return nil, fmt.Errorf("entry %s: held post %s: %w", w.Entry.ID, d.post.ID, err)
		}
		o.Changes = append(o.Changes, one.Changes...)
		o.Children = append(o.Children, one.Children...)
		o.Told = append(o.Told, one.Told...)
		said = append(said, d.call.Command.Name+" "+d.post.ID)
	}
	o.Reason = strings.Join(said, ", ") + ": " + by
	return o, nil
}

// one carries a single decision out.
func (s *command) one(ctx context.Context, st *store.State, d decision, by string) (*queue.Outcome, error) {
	held, err := LoadHeld(ctx, s.c.FS, st.ID(), d.post)
	if err != nil && d.call.Command.Name != string(lists.ActionDiscard) { // which needs no message
		return nil, err
	}
	r := &commands.Request{State: st, Post: d.post, Text: d.call.Text}
	if held != nil {
		r.Author = author(held)
	}
	res, err := d.call.Command.Run(r)
	if err != nil {
		return nil, err
	}
	var o *queue.Outcome
	switch res.Held {
	case lists.ActionAccept:
		o = ReleaseHeld(held, d.post, by)
	case lists.ActionReject:
		if o, err = s.c.RejectHeld(ctx, st.List(), held, d.post, Decision{By: by, Why: res.Reason}); err != nil {
			return nil, err
		}
	case lists.ActionDiscard:
		o = DiscardHeld(held, d.post, by)
	default:
		o = &queue.Outcome{}
	}
	o.Changes = append(o.Changes, res.Changes...)
	return o, nil
}

// author is the only one that a held post names, or none.
func author(held *queue.Entry) mailaddr.Address {
	m := message.Parse(held.Raw)
	if as := m.Mailboxes("From"); len(m.All("From")) == 1 && len(as) == 1 {
		return as[0].Address
	}
	return ""
}

// unchanged tells whoever asked why nothing was done, and what can be.
func unchanged(w *queue.Work, a asked, why string) *queue.Outcome {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing was changed.\n\n%s\n", plain(why))
	if a.known || a.password {
		fmt.Fprintf(&b, "\nTo decide about a held post, write one of these on a line of its own, at the very top:\n\n")
		for _, c := range commands.Moderation {
			fmt.Fprintf(&b, "    %-16s - %s\n", c.Name, c.Doc)
		}
	}
	o := &queue.Outcome{Event: "refused", Reason: why}
	n := answer(w.Entry, a.m, "Re: your mail to "+string(w.Entry.Target.List.Address(w.Entry.Target.Sub)), b.String())
	if a.known {
		n.text = commands.Marker + "\n\n" + n.text
		n.subject = "confirm " + a.token + ": nothing was changed"
		n.replyTo = commands.ConfirmAddress(w.List.ID, a.token)
	}
	reply(w, o, n)
	return o
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
