package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/message"
	"qrunner/lists/rules"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// command carries out what people ask for by mail.
type command struct{ c Config }

// asked is a command mail, read.
type asked struct {
	m *message.Message
	// token is what the mail carries of that form; post is the held post it is for.
	token string
	post  store.HeldPost
	known bool
	// password says that the mail carries the moderator's password.
	password bool
	calls    []commands.Call
}

// Process implements queue.Processor.
func (s *command) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	e := w.Entry
	if e.Target.Sub != lists.SubConfirm && e.Target.Sub != lists.SubRequest {
		return nobody(fmt.Sprintf("nothing is done with mail to %s yet", e.Target.Address())), nil
	}
	m := message.Parse(e.Raw)
	if !answerable(e, m) {
		return &queue.Outcome{Event: "ignored", Reason: "a machine wrote it: nothing was done"}, nil
	}
	if o := s.c.bounceAnswer(w, m); o != nil {
		return o, nil
	}
	a := read(w, m)
	switch {
	case a.token == "" && !a.password:
		return nobody("there is neither a token nor a password in it, and no other command is known yet"), nil
	case a.token != "" && !a.known && !a.password:
		return unchanged(w, a, "This was decided already, or it has expired: the post that it is about does not wait any more."), nil
	}
	todo, why := a.decide(w.State)
	if why != "" {
		return unchanged(w, a, why), nil
	}
	return s.carryOut(ctx, w, a, todo)
}

// read finds out what a mail asks for and what proves the right to.
func read(w *queue.Work, m *message.Message) asked {
	text := commands.Text(m)
	a := asked{m: m}
	subject := message.DecodeHeader(m.Get("Subject"))
	if a.token = commands.FindToken(w.Entry.Target.Extra, subject, text); a.token != "" {
		a.post, a.known = commands.HeldBy(w.State, a.token)
	}
	where, _ := rules.FindPassword(m, w.List)
	a.password = where != ""
	a.calls = commands.Find(commands.Moderation, subject, commands.Own(text))
	return a
}

// decision is what shall happen to one held post.
type decision struct {
	post store.HeldPost
	call commands.Call
}

// decide takes the calls apart by post. why is for the sender if nothing shall be done:
// what is not clear changes nothing.
func (a asked) decide(st *store.State) (todo []decision, why string) {
	if len(a.calls) == 0 {
		return nil, "No command stands on a line of its own."
	}
	for _, c := range a.calls {
		p := a.post
		if c.ID != "" && c.ID != p.ID {
			var ok bool
			if p, ok = st.HeldPost(c.ID); !ok || !a.password {
				return nil, "No post " + c.ID + " waits here that you may decide about."
			}
		}
		if p.ID == "" {
			return nil, "It is not clear which post is meant: name it, as in \"" + c.Command.Name + " k3j2h4g5f6\"."
		}
		for _, d := range todo {
			if d.post.ID == p.ID {
				return nil, "There are two different commands for one post: \"" + d.call.Command.Name + "\" and \"" + c.Command.Name + "\"."
			}
		}
		todo = append(todo, decision{p, c})
	}
	return todo, ""
}

// carryOut makes one outcome of all decisions: all or none.
func (s *command) carryOut(ctx context.Context, w *queue.Work, a asked, todo []decision) (*queue.Outcome, error) {
	by := or(from(s.c.post(w)), "a moderator") + ", by mail"
	o := &queue.Outcome{Event: "moderated"}
	var said []string
	state := w.State
	for _, d := range todo {
		one, err := s.one(ctx, state, d, by)
		why, refused := commands.Refused(err)
		var corrupt *spool.CorruptError
		switch {
		case refused:
			return unchanged(w, a, "The command \""+d.call.Command.Name+"\" cannot be carried out: "+why+"."), nil
		case errors.As(err, &corrupt):
			return unchanged(w, a, "The file of the held post cannot be read; the site's operators have to look: qrunner held show."), nil
		case err != nil:
			return nil, fmt.Errorf("entry %s: held post %s: %w", w.Entry.ID, d.post.ID, err)
		}
		if state, err = state.With(w.Entry.Received, one.Changes...); err != nil {
			return nil, fmt.Errorf("entry %s: held post %s: %w", w.Entry.ID, d.post.ID, err)
		}
		o.Changes = append(o.Changes, one.Changes...)
		o.Children = append(o.Children, one.Children...)
		said = append(said, d.call.Command.Name+" "+d.post.ID)
	}
	o.Reason = strings.Join(said, ", ") + ": " + by
	return o, nil
}

// one carries a single decision out.
func (s *command) one(ctx context.Context, st *store.State, d decision, by string) (*queue.Outcome, error) {
	held, err := LoadHeld(ctx, s.c.FS, st.ID(), d.post)
	if err != nil {
		return nil, err
	}
	r := &commands.Request{State: st, Post: d.post, Text: d.call.Text}
	if m := message.Parse(held.Raw); len(m.All("From")) == 1 {
		if as := m.Mailboxes("From"); len(as) == 1 {
			r.Author = as[0].Address
		}
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
		o = RejectHeld(held, d.post, res.Reason)
	case lists.ActionDiscard:
		o = DiscardHeld(held, d.post, by)
	default:
		o = &queue.Outcome{}
	}
	o.Changes = append(o.Changes, res.Changes...)
	return o, nil
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
