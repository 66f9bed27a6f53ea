package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/queue/trace"
)

// atDesk lets an operator decide at a list's desk, commits what comes of it, and sends the
// mails. decide is asked again if another host's record came first.
func (h *house) atDesk(ctx context.Context, l *store.Holder, note string, decide func(subscribe.Desk) (subscribe.Result, error)) error {
	for range changeTries {
		d := subscribe.Desk{
			State: l.State(), At: time.Now(), Random: rand.Reader, Trusted: true, By: actor(),
			Trace: strings.ToLower(rand.Text()),
		}
		res, err := decide(d)
		if err != nil || len(res.Changes) == 0 {
			return err
		}
		o, err := h.stages().Carry(ctx, d, res)
		if err != nil {
			return err
		}
		attempt := h.spool.NewAttempt(l)
		if err := attempt.Add(ctx, nil, o); err != nil {
			return fmt.Errorf("stage notices: %w", err)
		}
		if err := attempt.Commit(ctx, by(note)); !errors.Is(err, store.ErrFenced) {
			if err == nil {
				h.trace.Add(ctx, trace.Event{Trace: d.Trace, List: l.ID(), Event: o.Event, Detail: o.Reason})
			}
			return err
		}
	}
	return fmt.Errorf("change list %s: %w", l.ID(), store.ErrFenced)
}
