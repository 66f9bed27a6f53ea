package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/commands"
	"qrunner/lists/message"
	"qrunner/lists/rules"
	"qrunner/lists/subscribe"
	"qrunner/queue"
)

// verbs carries out what anybody may ask for, and answers all of it in one mail.
func (s *command) verbs(ctx context.Context, w *queue.Work, m *message.Message) (*queue.Outcome, error) {
	rules.Cleanse(m, w.List) // no answer repeats a password
	calls, bad, err := written(w, m)
	if err != nil {
		return &queue.Outcome{Event: "ignored", Reason: err.Error()}, nil
	}
	a := s.asked(ctx, w, m)
	done, err := commands.Do(a, calls, bad)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w: %w", w.Entry.ID, queue.ErrTrouble, err)
	}
	o, err := s.c.Carry(ctx, a.Desk, subscribe.Result{Event: done.Event, Reason: done.Reason, Changes: done.Changes, Notices: done.Notices})
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	if done.Text != "" && (done.Asked || mayExplain(w, o, len(calls) > 0 || a.From.Key() == a.Sender.Key())) {
		reply(w, o, answer(w.Entry, m, "Re: your mail to "+string(w.Entry.Target.List.Address(w.Entry.Target.Sub)), clean(done.Text)))
	}
	return o, nil
}

// mostExplained is how often a day a list answers mail that asks for nothing it knows: much
// of that is spam in somebody's name.
const mostExplained = 50

// mayExplain counts such an answer; nobody gets one unless somebody can be meant.
func mayExplain(w *queue.Work, o *queue.Outcome, meant bool) bool {
	counts, ok := mayTell(w, "explained", mostExplained)
	if ok = ok && meant; ok {
		o.Changes = append(o.Changes, counts...)
	}
	return ok
}

// errMachine: what brings the token back is a program.
var errMachine = errors.New("a machine wrote it: nothing was done")

// written is what a mail asks for: by the address it went to, by a token that it brings
// back, or in words.
func written(w *queue.Work, m *message.Message) (calls []commands.Written, bad []string, err error) {
	subject, text := message.DecodeHeader(m.Get("Subject")), commands.Text(m)
	own := commands.Own(text)
	switch t := w.Entry.Target; t.Sub {
	case lists.SubJoin, lists.SubSubscribe:
		return one("join"), nil, nil
	case lists.SubLeave, lists.SubUnsubscribe:
		return one("leave"), nil, nil
	case lists.SubConfirm, lists.SubRequest:
		token := commands.FindToken(t.Extra, subject, text)
		if token == "" && t.Sub == lists.SubConfirm {
			token = t.Extra
		}
		calls, bad = commands.Read(commands.Verbs, subject, own)
		if token == "" || t.Sub == lists.SubRequest && len(calls) > 0 {
			return calls, bad, nil
		}
		if k := bounces.Scan(w.Entry.Raw).Kind; k == bounces.AutoReply || k == bounces.Challenge {
			return nil, nil, errMachine
		}
		calls, _ = commands.Read(commands.Verbs, "", own)
		for _, c := range calls {
			if n := c.Verb.Names[0]; n == "leave" || n == "end" { // not what somebody writes who agrees
				return calls, nil, nil
			}
		}
		return one("confirm " + token), nil, nil
	}
	return nil, nil, nil
}

// one is a line that we write ourselves.
func one(line string) []commands.Written {
	calls, _ := commands.Read(commands.Verbs, line, nil)
	return calls
}

// asked is who asks.
func (s *command) asked(ctx context.Context, w *queue.Work, m *message.Message) commands.Asked {
	a := commands.Asked{Desk: s.desk(w, m), Verbs: commands.Verbs}
	if as := m.Mailboxes("From"); len(as) == 1 && len(m.All("From")) == 1 {
		a.From, a.Name = as[0].Address, strings.TrimSpace(shown(as[0].Name))
	}
	if s.c.Directory != nil {
		a.Directory = func() ([]*lists.List, error) { return s.c.Directory(ctx, w.List.ID.Domain()) }
	}
	return a
}

func (s *command) desk(w *queue.Work, _ *message.Message) subscribe.Desk {
	return subscribe.Desk{
		State: w.State, At: w.Entry.Received, Random: s.c.Random, Sender: w.Entry.Sender,
		By: or(from(s.c.post(w)), "somebody") + ", by mail", Trace: w.Entry.Trace,
	}
}

// clean is a text of several lines without control characters.
func clean(s string) string { return lines(s) }
