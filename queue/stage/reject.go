package stage

import (
	"cmp"
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// reject tells the poster, if that can be done without answering a machine, and without
// telling the same address too much in a day.
func (c Config) reject(ctx context.Context, w *queue.Work, v lists.Verdict) (*queue.Outcome, error) {
	o := &queue.Outcome{Event: "rejected", Reason: v.String(), Verdict: &v}
	m := message.Parse(w.Entry.Raw)
	subject, text, err := c.says(ctx, w.List, templates.UserRejected, reads(w.List, w.Entry.Sender), templates.Vars{
		"sender_email": w.Entry.Sender.String(), "subject": subject(m), "reasons": lines(cmp.Or(v.Notice, v.Reason)),
	})
	if err != nil {
		return nil, fmt.Errorf("reject entry %s: %w", w.Entry.ID, err)
	}
	reply(w, o, answer(w.Entry, m, subject, text))
	return o, nil
}

// rejection is the notice to the poster. It quotes nothing but the subject: a rejected
// post may be forged.
func rejection(e *queue.Entry, m *message.Message, why string) notice {
	return answer(e, m, "Your message to "+string(e.List)+" was rejected", fmt.Sprintf(
		"Your message to %s was not distributed.\n\nReason:  %s\nSubject: %s\n\nQuestions go to %s.\n",
		e.List, lines(why), subject(m), e.List.Address(lists.SubOwner)))
}

func subject(m *message.Message) string { return shown(message.DecodeHeader(m.Get("Subject"))) }
