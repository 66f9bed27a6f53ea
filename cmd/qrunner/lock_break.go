package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"qrunner/lists"
	"qrunner/locking"
)

type lockBreakCmd struct {
	Key string `arg:"" help:"Lock: a posting address, or out/ENTRY/RANGE."`
}

// Run ends a lock whose holder is gone, and leaves any other alone. A lock that is
// over by the file server's clock is watched for a lifetime first.
func (c *lockBreakCmd) Run(ctx context.Context, a *app) error {
	key, err := locking.ParseKey(c.Key)
	if err != nil {
		return &usageError{err}
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	op, err := h.locker.get(ctx)
	if err != nil {
		return err
	}
	b, ok := op.(locking.Breaker)
	if !ok {
		return errors.New("locks of this back end end with their holder's session: there is nothing to break")
	}
	r, err := b.Inspect(ctx, key)
	if err != nil {
		return err
	}
	if r.State == locking.StateStale {
		fmt.Fprintf(a.std.err, "%s: %s; to do: %s\n", key, r.Why, r.Would)
	}
	if r, err = b.Break(ctx, key); err != nil {
		return err
	}
	if r.State == locking.StateFree {
		return a.printLock(r, func(w io.Writer) { fmt.Fprintf(w, "nobody holds %s\n", key) })
	}
	return h.forced(ctx, a, "lock break", r)
}

// forcedWait bounds the wait for a list whose log is to tell of a forced act.
const forcedWait = time.Minute

// forced says that a lock was taken from its holder by force: to whoever did it, in
// the program's log, and in the list's own log if the lock is a list's. The fence
// that goes with the latter also ends what the former holder may still be about.
func (h *house) forced(ctx context.Context, a *app, deed string, r locking.Report) error {
	from := fmt.Sprintf("%s pid %d", r.Holder.Host, r.Holder.PID)
	if r.Torn {
		from = "an unreadable holder"
	}
	h.log.Warn(deed, "list", r.Key, "from", from, "by", actor(), "why", r.Why)
	if err := h.logForced(ctx, r.Key, deed); err != nil {
		return fmt.Errorf("%s of %s is done, but not in the list's log: %w", deed, r.Key, err)
	}
	return a.printLock(r, func(w io.Writer) { fmt.Fprintf(w, "%s is free; it was held by %s\n", r.Key, from) })
}

// logForced puts the deed into the log of the list with that lock, if it is one.
func (h *house) logForced(ctx context.Context, key locking.Key, deed string) error {
	id, err := lists.ParseID(string(key))
	if err != nil {
		return nil // a delivery's
	}
	if there, err := h.store.Exists(ctx, id); err != nil || !there {
		return err
	}
	wait, stop := context.WithTimeout(ctx, forcedWait)
	defer stop()
	l, err := h.store.Lock(wait, id, deed)
	if err != nil {
		return err
	}
	return h.giveBack(ctx, l, l.Commit(ctx, by(deed)))
}
