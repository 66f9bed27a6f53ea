package stage

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/bounces/score"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// bounceAnswer takes a member's answer to a probe, or to the notice that delivery is
// disabled: the token proves that mail arrives. nil: the mail carries no such token.
func (c Config) bounceAnswer(ctx context.Context, w *queue.Work, m *message.Message) (*queue.Outcome, error) {
	token := strings.ToLower(w.Entry.Target.Extra)
	if !regexp.MustCompile(`^` + memberToken + `$`).MatchString(token) {
		token = subjectToken(m)
	}
	if token == "" {
		return nil, nil
	}
	if k := bounces.Scan(w.Entry.Raw).Kind; k == bounces.AutoReply || k == bounces.Challenge {
		return &queue.Outcome{Event: "ignored", Reason: "a machine wrote it: nothing was done"}, nil
	}
	b := c.bouncing(w)
	o := &queue.Outcome{Event: "refused", Reason: "the token is used, or for nobody"}
	name, vars, lang := templates.UserTooLate, templates.Vars{}, reads(w.List, w.Entry.Sender)
	id, known := b.probed(token)
	who, ok := w.List.Roster.ByID(id)
	if known && ok && who.Role == lists.RoleMember {
		o.Event, o.Reason = "enabled", fmt.Sprintf("%s has answered", who.Address)
		o.Changes = b.enabled(who, "the member has answered")
		name, vars["user_email"], lang = templates.UserEnabled, who.Address.String(), w.List.Language(who)
		if who.Status != "" && who.Status != lists.StatusEnabled && who.Status != lists.StatusByBounces {
			vars["stopped"] = string(who.Status)
		}
	}
	subject, text, err := c.says(ctx, w.List, name, lang, vars)
	if err != nil {
		return nil, fmt.Errorf("answer entry %s: %w", w.Entry.ID, err)
	}
	reply(w, o, answer(w.Entry, m, subject, text))
	return o, nil
}

// enabled clears a member's score, and enables delivery if that was disabled for bounces.
func (b *bouncing) enabled(m *lists.Member, why string) []store.Change {
	known, _ := b.st.Bounce(m.ID)
	r, step := score.Clear(known.Record, why, b.at)
	out := []store.Change{store.SetBounce{Member: m.ID, Record: r, Step: step}}
	if m.Status == lists.StatusByBounces {
		on := *m
		on.Status, on.StatusSince, on.StatusWhy = "", b.at, why
		out = append(out, store.SetMember{Member: on})
	}
	return out
}
