package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/clock"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// Tasks does each list's periodic work, under the list's lock. Several hosts may run it:
// whoever comes first does it, the others find nothing due. Lists where nothing is due
// cost a read and no lock.
type Tasks struct {
	Stage Config
	Store *store.Store
	Spool *spool.Spool
	Clock clock.Clock
	// Every is the time between two rounds, jittered by a third (default 5 min).
	Every time.Duration
	// Done is told of what was done for a list; nil for nobody.
	Done func(context.Context, lists.ID, *queue.Outcome)
	Log  *slog.Logger
}

// Run works until ctx ends, and returns nil then. The first round begins at a random
// time within the first tenth of Every, so that hosts that start together spread out.
func (t *Tasks) Run(ctx context.Context) error {
	every := t.Every
	if every == 0 {
		every = 5 * time.Minute
	}
	wait := rand.N(every/10 + 1)
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		t.Round(ctx)
		wait = every - every/3 + rand.N(2*every/3+1)
	}
}

// Round looks at each list once. Trouble with one list is logged and keeps no other from
// its turn.
func (t *Tasks) Round(ctx context.Context) {
	ids, err := t.Store.Lists(ctx)
	if err != nil && ctx.Err() == nil {
		t.Log.WarnContext(ctx, "periodic work: list the lists", "err", err)
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		if err := t.list(ctx, id); err != nil && ctx.Err() == nil && !errors.Is(err, lists.ErrNoList) {
			t.Log.WarnContext(ctx, "periodic work", "list", id, "err", err)
		}
	}
}

// list does what is due for one list. One that another holds has its turn in the next
// round.
func (t *Tasks) list(ctx context.Context, id lists.ID) error {
	st, err := t.Store.Read(ctx, id)
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	if o, err := t.Stage.Due(ctx, st, t.Clock()); o == nil {
		return err
	}
	h, err := t.Store.TryLock(ctx, id, "periodic work")
	if errors.Is(err, locking.ErrHeld) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take list: %w", err)
	}
	err = t.work(ctx, h)
	if rerr := t.Spool.Release(context.WithoutCancel(ctx), h); err == nil && rerr != nil && !errors.Is(rerr, locking.ErrLost) {
		err = fmt.Errorf("release list: %w", rerr)
	}
	if errors.Is(err, locking.ErrLost) || errors.Is(err, store.ErrFenced) {
		return nil // whoever has the list now finds it due
	}
	return err
}

func (t *Tasks) work(ctx context.Context, h *store.Holder) error {
	if err := t.Spool.Recover(ctx, h); err != nil {
		return fmt.Errorf("recover list: %w", err)
	}
	o, err := t.Stage.Due(ctx, h.State(), t.Clock())
	if o == nil {
		return err
	}
	a := t.Spool.NewAttempt(h)
	if err := a.Add(ctx, nil, o); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	if err := a.Commit(ctx, store.By{Actor: "runner", Reason: "periodic"}); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if t.Done != nil {
		t.Done(ctx, h.ID(), o)
	}
	return nil
}
