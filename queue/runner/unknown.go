package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// unknownList parks the mail of a list that is not there: deleted between RCPT and
// now, say. Bounces end here. The hand-over stands in the site's log, as no other one can take it.
func (r *Runner) unknownList(ctx context.Context, id lists.ID) error {
	h, err := r.cfg.Store.TryLock(ctx, lists.Site, "mail of an unknown list")
	if errors.Is(err, locking.ErrHeld) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take the site's list for mail of unknown list %s: %w", id, err)
	}
	n, err := r.parkAll(ctx, h, id)
	if n > 0 {
		r.cfg.Log.WarnContext(ctx, "mail for an unknown list went to shunt, bounces were dropped", "list", id, "entries", n)
	}
	if rerr := r.cfg.Spool.Release(context.WithoutCancel(ctx), h); err == nil {
		err = rerr
	}
	return err
}

func (r *Runner) parkAll(ctx context.Context, h *store.Holder, id lists.ID) (int, error) {
	if err := r.cfg.Spool.Recover(ctx, h); err != nil {
		return 0, err
	}
	attempt := r.cfg.Spool.NewAttempt(h)
	for _, q := range queue.ListQueues {
		if err := r.park(ctx, attempt, q, id); err != nil {
			return 0, err
		}
	}
	n := attempt.Len()
	if err := attempt.Commit(ctx, store.By{Actor: "runner", Reason: "list does not exist"}); err != nil {
		return 0, err
	}
	for _, q := range queue.ListQueues {
		if _, err := r.cfg.Spool.Tidy(ctx, id, q); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (r *Runner) park(ctx context.Context, a *spool.Attempt, q queue.Name, id lists.ID) error {
	ids, err := r.cfg.Spool.IDs(ctx, q, id)
	if err != nil {
		return err
	}
	for _, eid := range ids {
		e, err := r.cfg.Spool.Load(ctx, q, id, eid)
		var corrupt *spool.CorruptError
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, spool.ErrNewer):
			continue
		case errors.As(err, &corrupt):
			_, err = a.AddBad(ctx, q, id, eid)
		case err == nil && q == queue.Bounces: // nobody is left whom they are about
			err = a.Add(ctx, e, &queue.Outcome{Event: "ignored", Reason: fmt.Sprintf("list %s does not exist", id)})
		case err == nil:
			err = a.Add(ctx, e, shunted(fmt.Sprintf("list %s does not exist", id)))
		}
		if err != nil {
			return fmt.Errorf("park entry %s: %w", eid, err)
		}
	}
	return nil
}
