package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"qrunner/locking"
)

type lockCmd struct {
	Ls  lockLsCmd  `cmd:"" help:"Who holds what."`
	Why lockWhyCmd `cmd:"" help:"One lock: holder, waiters, and whether it is stale."`

	Break lockBreakCmd `cmd:"" help:"End a lock whose holder is gone."`
	Steal lockStealCmd `cmd:"" help:"Take a lock from its holder, alive or not."`
	Run   lockRunCmd   `cmd:"" help:"Hold a lock file while a command runs. Needs no configuration."`
}

type lockLsCmd struct{}

// Run prints one line for each lock that is held.
func (c *lockLsCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	op, err := h.locker.get(ctx)
	if err != nil {
		return err
	}
	keys, err := op.List(ctx)
	if err != nil {
		return fmt.Errorf("list locks: %w", err)
	}
	rows := []locking.Report{}
	for _, k := range keys {
		r, err := op.Inspect(ctx, k)
		if err != nil {
			return fmt.Errorf("inspect lock %s: %w", k, err)
		}
		rows = append(rows, r)
	}
	views := make([]lockView, len(rows))
	for i, r := range rows {
		views[i] = viewLock(r)
	}
	return a.print(views, func(w io.Writer) {
		fmt.Fprintln(w, "LOCK\tSTATE\tHOST\tPID\tSINCE\tREFRESHED\tWAITING\tFOR")
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\n", r.Key, r.State, r.Holder.Host, r.Holder.PID,
				when(r.Holder.Since), refreshed(r), len(r.Waiters), r.Holder.Note)
		}
	})
}

// refreshed says how old a lock's last refresh is; locks that are sessions have none.
func refreshed(r locking.Report) string {
	if r.Holder.Seen.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%v ago", r.Age.Round(time.Millisecond))
}

type lockWhyCmd struct {
	Key string `arg:"" help:"Lock: a posting address, or out/ENTRY/RANGE."`
}

// Run says all that is known of one lock; it changes nothing.
func (c *lockWhyCmd) Run(ctx context.Context, a *app) error {
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
		return fmt.Errorf("inspect lock %s: %w", key, err)
	}
	return a.printLock(r, func(w io.Writer) {
		fmt.Fprintf(w, "lock\t%s\nstate\t%s\n", r.Key, r.State)
		if r.State != locking.StateFree {
			fmt.Fprintf(w, "mode\t%s\nholder\t%s pid %d\t%s\nsince\t%s\n", r.Mode, r.Holder.Host, r.Holder.PID, r.Holder.Note, when(r.Holder.Since))
			if !r.Holder.Seen.IsZero() {
				fmt.Fprintf(w, "last refresh\t%s\t(%s, by the file server's clock)\n", when(r.Holder.Seen), refreshed(r))
			}
		}
		for _, p := range r.Sharing {
			fmt.Fprintf(w, "beside it\t%s pid %d\t%s\n", p.Host, p.PID, p.Note)
		}
		for _, p := range r.Waiters {
			fmt.Fprintf(w, "waiting\t%s pid %d\t%s\n", p.Host, p.PID, p.Note)
		}
		fmt.Fprintf(w, "why\t%s\nbreak would\t%s\n", r.Why, r.Would)
	})
}
