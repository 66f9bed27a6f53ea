package stage

import (
	"fmt"
	"regexp"
	"strings"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/bounces/score"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// bounceAnswer takes a member's answer to a probe, or to the notice that delivery is
// disabled: the token proves that mail arrives. nil: the mail carries no such token.
func (c Config) bounceAnswer(w *queue.Work, m *message.Message) *queue.Outcome {
	token := strings.ToLower(w.Entry.Target.Extra)
	if !regexp.MustCompile(`^` + memberToken + `$`).MatchString(token) {
		token = subjectToken(m)
	}
	if token == "" {
		return nil
	}
	if k := bounces.Scan(w.Entry.Raw).Kind; k == bounces.AutoReply || k == bounces.Challenge {
		return &queue.Outcome{Event: "ignored", Reason: "a machine wrote it: nothing was done"}
	}
	b := c.bouncing(w)
	o := &queue.Outcome{Event: "refused", Reason: "the token is used, or for nobody"}
	text := "This was done already, or it is too late for it: nothing was changed.\n"
	id, known := b.probed(token)
	who, ok := w.List.Roster.ByID(id)
	if known && ok && who.Role == lists.RoleMember {
		o.Event, o.Reason = "enabled", fmt.Sprintf("%s has answered", who.Address)
		o.Changes = b.enabled(who, "the member has answered")
		text = fmt.Sprintf("Thank you. Mail from %s to\n\n    %s\n\narrives, and goes on.\n", w.List.ID, who.Address)
		if s := who.Status; s != "" && s != lists.StatusEnabled && s != lists.StatusByBounces {
			text = fmt.Sprintf("Thank you. Mail to\n\n    %s\n\narrives. Delivery from %s stays disabled, which was not for bounces.\n", who.Address, w.List.ID)
		}
	}
	reply(w, o, answer(w.Entry, m, "Re: your mail to "+string(w.Entry.Target.List.Address(w.Entry.Target.Sub)), text))
	return o
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
