package store

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/locking"
)

// Holder is a list that this process may change. It is used by one goroutine at a
// time, and given back with Release.
type Holder struct {
	s     *Store
	id    lists.ID
	note  string
	lease locking.Lease

	gen     generation
	state   *State
	token   locking.Token
	last    string // private name of our newest record in the log
	base    uint64 // newest snapshot at the last fence
	unclean bool
	broken  error // why nothing can be committed any more
}

// ID names the list.
func (h *Holder) ID() lists.ID { return h.id }

// State is the list as it is now: as loaded at the grant, with what was committed
// since.
func (h *Holder) State() *State { return h.state }

// Token is the number of the fence behind the grant. It grows when the holder had
// to fence again.
func (h *Holder) Token() locking.Token { return h.token }

// Context ends when the lease does, with cause locking.ErrLost or
// locking.ErrReleased. Work on the list runs under it.
func (h *Holder) Context() context.Context { return h.lease.Context() }

// Unclean says that the grant before this one ended without a release record: its
// process may have been killed by an entry.
func (h *Holder) Unclean() bool { return h.unclean }

// Verify asks the lock's storage whether the list is still ours; locking.ErrLost if not.
func (h *Holder) Verify(ctx context.Context) error {
	if err := context.Cause(h.lease.Context()); err != nil {
		return err
	}
	return h.lease.Verify(ctx)
}

// Release gives the list back. changes (done marks) ride on the release record,
// which is best effort: where it cannot be written, the next holder finds the grant
// unclean and goes carefully. The error is that of giving back the lock. A snapshot
// that is due is written here, after the lock is free.
func (h *Holder) Release(ctx context.Context, cs ...Change) error {
	if errors.Is(h.broken, ErrReleased) {
		return h.broken
	}
	quiet := context.WithoutCancel(ctx)
	if h.broken == nil {
		if err := h.commit(quiet, KindRelease, By{}, cs); err != nil {
			h.s.Log.Warn("no release record", "list", h.id, "lease", h.token, "err", err)
		}
	}
	err := h.lease.Unlock(quiet)
	h.s.drop(h.last)
	h.last, h.broken = "", fmt.Errorf("list %s: %w", h.id, ErrReleased)
	if !h.state.deleted && h.state.version >= h.base+h.s.every(h.state) && ctx.Err() == nil {
		h.s.keepShort(ctx, h.gen, h.state)
	}
	return err
}

// abandon gives up a grant that never came to be.
func (h *Holder) abandon(ctx context.Context) {
	_ = h.lease.Unlock(context.WithoutCancel(ctx))
	h.s.drop(h.last)
	h.broken = ErrReleased
}
