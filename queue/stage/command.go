package stage

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/message"
	"qrunner/lists/rules"
	"qrunner/lists/store"
	"qrunner/queue"
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
	if e.Meta.Web != "" {
		return s.web(ctx, w)
	}
	m := message.Parse(e.Raw)
	if e.Target.List == lists.Site || !answerable(e, m) || automatic(m) {
		return &queue.Outcome{Event: "ignored", Reason: "a machine wrote it: nothing was done"}, nil
	}
	if spam, err := rules.Discards(s.c.post(w)); spam || err != nil {
		return &queue.Outcome{Event: "ignored", Reason: "the site's header checks discard it"}, err
	}
	if e.Target.Sub != lists.SubConfirm && e.Target.Sub != lists.SubRequest {
		return s.verbs(ctx, w, m)
	}
	if o, err := s.c.bounceAnswer(ctx, w, m); o != nil || err != nil {
		return o, err
	}
	a := read(w, m)
	if e.Target.Sub == lists.SubRequest && a.token == "" && !a.password {
		r := s.c.respond(w, m, respondRequests)
		if r.discard {
			return r.instead(w), nil
		}
		o, err := s.verbs(ctx, w, m)
		return r.into(w, o), err
	}
	if p, ok := a.request(w); ok {
		return s.decideRequest(ctx, w, a, p)
	}
	if !a.known && !(a.password && len(a.calls) > 0) {
		return s.verbs(ctx, w, m)
	}
	todo, why := a.decide(w.State)
	if why != "" {
		return unchanged(w, a, why), nil
	}
	return s.carryOut(ctx, w, a, todo)
}

// automatic reports the marks that programs put on their answers, beside those of RFC 3834
// that answerable knows.
func automatic(m *message.Message) bool {
	for _, f := range []string{
		"X-Auto-Response-Suppress", "X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Auto-Response-From",
		"X-Autoreply-From", "X-Mail-Autoreply", "X-Vacation", "Vacation-Message", "X-BeenThere",
	} {
		if v := strings.ToLower(strings.TrimSpace(m.Get(f))); v != "" && v != "none" && v != "no" {
			return true
		}
	}
	switch strings.ToLower(m.Get("Precedence")) {
	case "auto_reply", "auto-reply", "autoreply":
		return true
	}
	media := m.ContentType().Media
	return media == "multipart/report" || media == "message/delivery-status"
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
