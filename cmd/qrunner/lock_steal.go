package main

import (
	"context"
	"fmt"
	"io"

	"qrunner/locking"
)

type lockStealCmd struct {
	Key string `arg:"" help:"Lock: a posting address, or out/ENTRY/RANGE."`
	Yes bool   `help:"Do not ask."`
}

// Run takes a lock from whoever holds it, alive or not, and gives it back.
func (c *lockStealCmd) Run(ctx context.Context, a *app) error {
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
	r, err := op.Inspect(ctx, key)
	if err != nil {
		return err
	}
	if r.State == locking.StateFree {
		return a.printLock(r, func(w io.Writer) { fmt.Fprintf(w, "nobody holds %s\n", key) })
	}
	if !c.Yes {
		ago := ""
		if !r.Holder.Seen.IsZero() {
			ago = ", refreshed " + refreshed(r)
		}
		yes, err := a.confirm(fmt.Sprintf("%s is held by %s pid %d (%s)%s: %s. Take it away?",
			key, r.Holder.Host, r.Holder.PID, r.Holder.Note, ago, r.Why))
		if err != nil {
			return err
		}
		if !yes {
			return a.printLock(r, func(w io.Writer) { fmt.Fprintln(w, "left alone") })
		}
	}
	le, r, err := op.Steal(ctx, key, locking.WithNote("lock steal"))
	if err != nil {
		return err
	}
	if err := le.Unlock(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return h.forced(ctx, a, "lock steal", r)
}
