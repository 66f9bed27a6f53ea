package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"qrunner/lists"
	"qrunner/lists/store"
)

// runnerActor is who changes lists on behalf of mail.
const runnerActor = "runner"

func by(reason string) store.By { return store.By{Actor: actor(), Reason: reason} }

// read is the newest state of a list, without its lock.
func (a *app) read(ctx context.Context, list string) (*store.State, error) {
	id, err := lists.ParseID(list)
	if err != nil {
		return nil, err
	}
	h, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	return h.store.Read(ctx, id) // its errors name the list
}

// with runs work while the list is held, and gives it back whatever comes of it.
func (a *app) with(ctx context.Context, list, note string, work func(*house, *store.Holder) error) error {
	id, err := parseList(list)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	l, err := h.store.Lock(ctx, id, note)
	if err != nil {
		return err // it names the list
	}
	return h.giveBack(ctx, l, work(h, l))
}

// giveBack releases a list and passes err on, or the release's own.
func (h *house) giveBack(ctx context.Context, l *store.Holder, err error) error {
	if rerr := h.spool.Release(context.WithoutCancel(ctx), l); err == nil && rerr != nil {
		return fmt.Errorf("release list %s: %w", l.ID(), rerr)
	}
	return err
}

// changeTries bounds how often changes are worked out again because another host's
// record came first.
const changeTries = 5

// change commits what decide makes of the list's state, and says how much it was.
func (a *app) change(ctx context.Context, list, note string, decide func(*store.State) ([]store.Change, error)) error {
	n := 0
	err := a.with(ctx, list, note, func(_ *house, l *store.Holder) error {
		for range changeTries {
			changes, err := decide(l.State())
			if err != nil || len(changes) == 0 {
				return err
			}
			err = l.Commit(ctx, by(note), changes...)
			if !errors.Is(err, store.ErrFenced) {
				n = len(changes)
				return err
			}
		}
		return fmt.Errorf("change list %s: %w", list, store.ErrFenced)
	})
	if err != nil {
		return err
	}
	return a.print(map[string]int{"changes": n}, func(w io.Writer) { fmt.Fprintf(w, "%d changed\n", n) })
}
