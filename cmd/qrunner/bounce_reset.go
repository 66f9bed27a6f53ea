package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type bounceResetCmd struct {
	Address string `arg:"" help:"A member's address."`
	List    string `arg:"" optional:"" help:"Posting address; every list if none is named."`
}

// Run forgets the bounces of an address. Who never bounced is left as he is.
func (c *bounceResetCmd) Run(ctx context.Context, a *app) error {
	addr, err := mailaddr.Parse(c.Address)
	if err != nil {
		return &usageError{err}
	}
	todo := []lists.ID{}
	err = a.eachList(ctx, c.List, func(st *store.State) error {
		if len(resetBounces(st, addr)) > 0 {
			todo = append(todo, st.ID())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		return fmt.Errorf("bounces of %s: %w", addr, errNothing)
	}
	for _, id := range todo {
		err := a.with(ctx, string(id), "bounce reset", func(_ *house, l *store.Holder) error {
			for range changeTries {
				cs := resetBounces(l.State(), addr)
				if len(cs) == 0 {
					return nil
				}
				if err := l.Commit(ctx, by("bounce reset"), cs...); !errors.Is(err, store.ErrFenced) {
					return err
				}
			}
			return store.ErrFenced
		})
		if err != nil {
			return fmt.Errorf("reset bounces on %s: %w", id, err)
		}
	}
	return a.print(map[string][]lists.ID{"lists": todo}, func(w io.Writer) { fmt.Fprintf(w, "reset on %s\n", count(len(todo), "list")) })
}

// resetBounces is what has to change so that nothing is known of an address's bounces,
// and they no longer stop its mail.
func resetBounces(st *store.State, a mailaddr.Address) []store.Change {
	var out []store.Change
	for _, r := range bounceRows(st, a) {
		out = append(out, store.DropBounce{Member: r.Member})
	}
	if m, ok := st.List().Roster.Find(lists.RoleMember, a); ok && m.Status == lists.StatusByBounces {
		on := *m
		on.Status, on.StatusSince, on.StatusWhy = "", time.Now().UTC(), "bounces were reset"
		out = append(out, store.SetMember{Member: on})
	}
	return out
}
