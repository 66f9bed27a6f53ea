package stage

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/rules"
	"qrunner/queue"
)

// unhandled is what comes of a post that the handlers did not finish: what they decided,
// or their trouble.
func (c Config) unhandled(ctx context.Context, w *queue.Work, err error) (*queue.Outcome, error) {
	var d *lists.Disposal
	if errors.As(err, &d) {
		return c.dispose(ctx, w, d)
	}
	if errors.Is(err, lists.ErrTrouble) {
		return nil, fmt.Errorf("entry %s: %w: %w", w.Entry.ID, queue.ErrTrouble, err)
	}
	return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
}

// dispose does with a post that must not go to the members what the list wants.
func (c Config) dispose(ctx context.Context, w *queue.Work, d *lists.Disposal) (*queue.Outcome, error) {
	v := lists.Verdict{Action: lists.ActionDiscard, Rule: d.Handler, Reason: d.Reason}
	switch d.Action {
	case "reject":
		v.Action = lists.ActionReject
		return c.reject(ctx, w, v)
	case "preserve":
		return &queue.Outcome{Fate: queue.FateShunt, Event: "preserved", Reason: v.String(), Verdict: &v}, nil
	}
	o := &queue.Outcome{Event: "discarded", Reason: v.String(), Verdict: &v}
	if d.Action == "forward" && c.hasOwners(w.List) {
		o.Event = "forwarded"
		o.Children = append(o.Children, queue.Child{Entry: c.forwarded(w, d).entry(w.List.ID)})
	}
	return o, nil
}

// forwarded is the mail that brings the owners the only copy of a post, whole.
func (c Config) forwarded(w *queue.Work, d *lists.Disposal) notice {
	m := message.Parse(w.Entry.Raw)
	rules.Cleanse(m, w.List)
	return notice{
		subject: "Content filter of " + string(w.List.ID) + ": " + subject(m), auto: "auto-generated", trace: w.Entry.Trace, sender: w.List.ID.Bounces(),
		text: fmt.Sprintf("The attached post was not distributed to the members of %s:\n\n    %s\n\nThis is the only copy.\n",
			w.List.ID, plain(d.Reason)),
		attach: m.Wire(),
	}
}
