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
	n, err := c.rejection(ctx, w.List, w.Entry, m, cmp.Or(v.Notice, v.Reason))
	if err != nil {
		return nil, fmt.Errorf("reject entry %s: %w", w.Entry.ID, err)
	}
	reply(w, o, n)
	return o, nil
}

// rejection is the notice to the poster. It quotes nothing but the subject: a rejected
// post may be forged.
func (c Config) rejection(ctx context.Context, l *lists.List, e *queue.Entry, m *message.Message, why string) (notice, error) {
	subject, text, err := c.says(ctx, l, templates.UserRejected, reads(l, e.Sender), templates.Vars{
		"sender_email": e.Sender.String(), "subject": subject(m), "reasons": lines(why),
	})
	return answer(e, m, subject, text), err
}

func subject(m *message.Message) string { return shown(message.DecodeHeader(m.Get("Subject"))) }
