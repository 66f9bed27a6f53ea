package world

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/stage"
)

// The administrator: what the commands of cmd/qrunner do, each as a process of its own
// on a host.

// command runs f as a short process on a host, in the grip of a list.
func (w *World) command(ctx context.Context, host string, id lists.ID, f func(ctx context.Context, p *process, h *store.Holder) error) error {
	sim := w.Server.Host(host)
	p, err := w.open(sim, host)
	if err != nil {
		return err
	}
	defer p.exit()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(sim.Context(), cancel)()
	h, err := p.store.Lock(ctx, id, "admin")
	if err != nil {
		return fmt.Errorf("lock list %s: %w", id, err)
	}
	err = f(ctx, p, h)
	return errors.Join(err, p.spool.Release(context.WithoutCancel(ctx), h))
}

// Change commits changes to a list, from a host.
func (w *World) Change(ctx context.Context, host string, id lists.ID, cs ...store.Change) error {
	return w.command(ctx, host, id, func(ctx context.Context, _ *process, h *store.Holder) error {
		var err error
		for range 5 {
			if err = h.Commit(ctx, admin("change"), cs...); !errors.Is(err, store.ErrFenced) {
				return err
			}
		}
		return err
	})
}

// Join adds a member.
func (w *World) Join(ctx context.Context, host string, id lists.ID, a mailaddr.Address) error {
	return w.Change(ctx, host, id, store.AddMember{Member: lists.Member{Role: lists.RoleMember, Address: a}})
}

// Leave removes a member.
func (w *World) Leave(ctx context.Context, host string, id lists.ID, a mailaddr.Address) error {
	return w.Change(ctx, host, id, store.DelMember{Role: lists.RoleMember, Address: a})
}

// Create makes a list as New makes them.
func (w *World) Create(ctx context.Context, host string, id lists.ID) error {
	p, err := w.open(w.Server.Host(host), host)
	if err != nil {
		return err
	}
	defer p.exit()
	return w.found(ctx, p, id)
}

// Delete deletes a list as `list delete --discard` does: what is queued goes to shunt.
func (w *World) Delete(ctx context.Context, host string, id lists.ID) error {
	return w.command(ctx, host, id, func(ctx context.Context, p *process, h *store.Holder) error {
		if err := p.spool.Recover(ctx, h); err != nil {
			return err
		}
		a := p.spool.NewAttempt(h)
		for _, q := range queue.ListQueues {
			ids, err := p.spool.IDs(ctx, q, id)
			if err != nil {
				return err
			}
			for _, e := range ids {
				entry, err := p.spool.Load(ctx, q, id, e)
				if err != nil {
					return err
				}
				if err := a.Add(ctx, entry, &queue.Outcome{Fate: queue.FateShunt, Reason: "the list was deleted"}); err != nil {
					return err
				}
			}
		}
		if err := a.Commit(ctx, admin("delete")); err != nil {
			return err
		}
		return h.Delete(ctx, admin("delete"))
	})
}

// Replay puts all of a list's shunted mail back, as `shunt replay` does, and says how
// much there was.
func (w *World) Replay(ctx context.Context, host string, id lists.ID) (n int, err error) {
	err = w.command(ctx, host, id, func(ctx context.Context, p *process, h *store.Holder) error {
		if err := p.spool.Recover(ctx, h); err != nil {
			return err
		}
		ids, err := p.spool.IDs(ctx, queue.Shunt, id)
		if err != nil {
			return err
		}
		a := p.spool.NewAttempt(h)
		for _, eid := range ids {
			e, err := p.spool.Load(ctx, queue.Shunt, id, eid)
			if err != nil {
				return err
			}
			if _, err := a.AddMove(ctx, e, e.Meta.From); err != nil {
				return err
			}
			n++
		}
		return a.Commit(ctx, admin("replay"))
	})
	return n, err
}

// Accept lets all held posts of a list pass, as `held accept` does, and says how many.
func (w *World) Accept(ctx context.Context, host string, id lists.ID) (n int, err error) {
	err = w.command(ctx, host, id, func(ctx context.Context, p *process, h *store.Holder) error {
		if err := p.spool.Recover(ctx, h); err != nil {
			return err
		}
		a := p.spool.NewAttempt(h)
		for _, post := range h.State().Held() {
			e, err := stage.LoadHeld(ctx, p.fs, id, post)
			if err != nil {
				return err
			}
			if err := a.Add(ctx, nil, stage.ReleaseHeld(e, post, "admin")); err != nil {
				return err
			}
			n++
		}
		if n == 0 {
			return nil
		}
		return a.Commit(ctx, admin("held accept"))
	})
	return n, err
}

// Reopen lets a shunted fan-out go on.
func (w *World) Reopen(host string, id lists.ID, e queue.ID) error {
	return fanout.Reopen(w.Server.Host(host), id, e)
}

// Hold takes a list's lock on a host and keeps it.
func (w *World) Hold(ctx context.Context, host string, id lists.ID) (*store.Holder, error) {
	p, err := w.open(w.Server.Host(host), host)
	if err != nil {
		return nil, err
	}
	return p.store.Lock(ctx, id, "held")
}

// Crowd makes a list as large as it shall be, in one commit.
func (w *World) Crowd(ctx context.Context, id lists.ID, n int) error {
	return w.command(ctx, w.c.Hosts[0], id, func(ctx context.Context, _ *process, h *store.Holder) error {
		return h.Import(ctx, admin("crowd"), func(yield func(lists.Member) bool) {
			for i := w.c.People; i < n; i++ {
				if !yield(lists.Member{Role: lists.RoleMember, Address: Person(id, i)}) {
					return
				}
			}
		}, nil)
	})
}
