package stage

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/message"
	"qrunner/queue"
)

// in judges posts, and mail to the owners.
type in struct{ c Config }

// Process implements queue.Processor.
func (s *in) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	e := w.Entry
	if e.Meta.Approved {
		return s.c.accept(ctx, w, letPass(e.Meta.ApprovedBy))
	}
	if sub := e.Target.Sub; sub != lists.SubOwner && (sub != lists.SubPost || e.Target.List == lists.Site) {
		return &queue.Outcome{Fate: queue.FateShunt, Event: "shunted", Reason: fmt.Sprintf("queue in has no use for mail to %s", e.Target.Address())}, nil
	}
	if first, ok := repeat(w); ok {
		return &queue.Outcome{Event: "repeated", Reason: "the same message came at " + first.Format("2006-01-02 15:04:05 MST") + " already"}, nil
	}
	v, err := chains.Judge(ctx, s.c.post(w))
	if errors.Is(err, lists.ErrTrouble) {
		return nil, fmt.Errorf("entry %s: %w: %w", e.ID, queue.ErrTrouble, err)
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", e.ID, err)
	}
	var r response
	if v.Action == lists.ActionAccept || v.Action == lists.ActionHold { // what looks like spam is not answered
		kind := respondPostings
		if e.Target.Sub == lists.SubOwner {
			kind = respondOwner
		}
		if r = s.c.respond(w, message.Parse(e.Raw), kind); r.discard {
			return r.instead(w), nil
		}
	}
	switch v.Action {
	case lists.ActionAccept:
		o, err := s.c.accept(ctx, w, v)
		return r.into(w, o), err
	case lists.ActionHold:
		o, err := s.c.hold(ctx, w, v)
		return r.into(w, o), err
	case lists.ActionReject:
		return s.c.reject(ctx, w, v)
	case lists.ActionDiscard:
		return &queue.Outcome{Event: "discarded", Reason: v.String(), Verdict: &v}, nil
	}
	return nil, fmt.Errorf("entry %s: the rules say %q", e.ID, v.Action)
}
