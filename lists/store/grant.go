package store

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/locking"
)

// Lock waits until the list is ours and gives it with its newest state. note is
// shown to whoever asks who holds it. lists.ErrNoList is certain.
func (s *Store) Lock(ctx context.Context, id lists.ID, note string) (*Holder, error) {
	return s.grant(ctx, id, note, s.Locker.Lock)
}

// TryLock is Lock without waiting: errors.Is(err, locking.ErrHeld) if somebody else
// holds the list.
func (s *Store) TryLock(ctx context.Context, id lists.ID, note string) (*Holder, error) {
	return s.grant(ctx, id, note, s.Locker.TryLock)
}

type lockFunc func(context.Context, locking.Key, locking.Mode, ...locking.Option) (locking.Lease, error)

// grant is the grant sequence: lock, fence, list, verify (these in the Locker, with
// our fencer), then load what is new.
func (s *Store) grant(ctx context.Context, id lists.ID, note string, lock lockFunc) (*Holder, error) {
	if _, known := s.cache.generation(id, 0); !known {
		// Nobody shall make a lock for a list that does not exist.
		if _, err := s.current(ctx, id); err != nil {
			return nil, err
		}
	}
	f := &fencer{s: s, id: id, note: note}
	lease, err := lock(ctx, locking.Key(id), locking.Exclusive, locking.WithFencer(f), locking.WithNote(note))
	if err != nil {
		f.forget()
		return nil, fmt.Errorf("lock list %s: %w", id, err)
	}
	h := &Holder{s: s, id: id, note: note, lease: lease}
	if f.got == nil {
		err = errors.New("the locker did not fence")
	} else if err = h.adopt(ctx, f.got); errors.Is(err, lists.ErrNoList) || again(err) {
		err = h.regrant(ctx) // deleted, perhaps made again
	}
	if err != nil {
		h.abandon(ctx)
		return nil, fmt.Errorf("lock list %s: %w", id, err)
	}
	h.unclean = h.state.unclean
	return h, nil
}

// adopt loads the state up to a fence that stands, and makes the fence the holder's
// last record. On an error the holder is as it was.
func (h *Holder) adopt(ctx context.Context, f *fence) error {
	st, err := h.s.loadThrough(ctx, f)
	if err != nil {
		h.s.drop(f.temp)
		return err
	}
	h.s.drop(h.last)
	h.gen, h.state, h.last, h.token, h.base = f.gen, st, f.temp, locking.Token(f.n), f.view.base()
	return nil
}

// loadThrough loads the state up to a fence. A record that is missing is looked for
// again; if it stays away the list is refused.
func (s *Store) loadThrough(ctx context.Context, f *fence) (*State, error) {
	turn := s.cache.turn(f.gen.List)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	v := f.view
	for try := 0; ; try++ {
		st, err := s.build(ctx, f.gen, v, f.n)
		if err == nil && !st.deleted {
			return st, nil
		}
		if err == nil {
			_ = s.bury(f.gen) // whoever deleted it may not have got so far
			s.cache.forget(f.gen.List)
			return nil, noListError(f.gen.List)
		}
		if !again(err) || try == loadTries {
			return nil, err
		}
		if v, err = s.look(f.gen.dir(), true); err != nil {
			return nil, err
		}
	}
}

// regrant goes through the grant sequence again, while the lease is still ours: the
// next number was taken, maybe by the fence of a grant that failed.
func (h *Holder) regrant(ctx context.Context) error {
	if err := h.Verify(ctx); err != nil {
		return err
	}
	f, err := h.s.fence(ctx, h.id, h.note)
	if err != nil {
		return err
	}
	if err := h.Verify(ctx); err != nil {
		h.s.drop(f.temp)
		return err
	}
	return h.adopt(ctx, f)
}
