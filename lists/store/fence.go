package store

import (
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/locking"
)

// fenceTries bounds how often a fence whose number was taken is made anew.
const fenceTries = 16

// fence is a fence record that stands.
type fence struct {
	gen  generation
	n    uint64
	temp string // our private name of it
	view view   // a listing made after it, in which it is chained to the base
}

// fencer appends the fence record of a grant; it implements locking.Fencer.
type fencer struct {
	s    *Store
	id   lists.ID
	note string
	got  *fence
}

// Fence implements locking.Fencer. A Locker whose grant failed after it may call
// it again.
func (f *fencer) Fence(ctx context.Context) (locking.Token, error) {
	f.forget()
	got, err := f.s.fence(ctx, f.id, f.note)
	if err != nil {
		return 0, err
	}
	f.got = got
	return locking.Token(got.n), nil
}

func (f *fencer) forget() {
	if f.got != nil {
		f.s.drop(f.got.temp)
		f.got = nil
	}
}

// fence appends a fence record to the log of the list's current incarnation. The
// one that is in memory will do: a list cannot be made again before its log has
// its final record, which a holder meets when it loads.
func (s *Store) fence(ctx context.Context, id lists.ID, note string) (*fence, error) {
	g, known := s.cache.generation(id, 0)
	if known && g.Incarnation != "" {
		f, err := s.fenceIn(ctx, g, note)
		if err == nil || !again(err) {
			return f, err
		}
	}
	now, err := s.current(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.fenceIn(ctx, now, note)
}

// fenceIn appends a fence that stands: above every base, and chained to it without
// a gap in a listing made after it. A log that is broken is refused (*GapError).
func (s *Store) fenceIn(ctx context.Context, g generation, note string) (*fence, error) {
	v, err := s.guess(g.dir())
	for range fenceTries {
		if err == nil {
			err = v.whole()
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		var temp string
		var got outcome
		n := v.head() + 1
		if temp, got, err = s.putFence(v.dir, n, note); err != nil {
			return nil, fmt.Errorf("fence list %s: %w", g.List, err)
		}
		v, err = s.lookTwice(v.dir)
		if err == nil && got == placed && v.base() < n && v.chain(v.base()) >= n {
			return &fence{gen: g, n: n, temp: temp, view: v}, nil
		}
		s.drop(temp)
	}
	return nil, fmt.Errorf("fence list %s: its log moves too fast", g.List)
}

// guess is a cheap idea of where the log ends: a number that is taken is refused by
// link, and one below the base shows in the look after it. Only a log that looks
// broken is looked at properly, so that no fences pile up behind a gap.
func (s *Store) guess(dir folder) (view, error) {
	list, err := s.listNumbers(dir.log(), false)
	v := view{dir: dir, records: list}
	if n := len(list); err == nil && (n == 0 || list[n-1]-list[0] != uint64(n-1)) {
		return s.lookTwice(dir)
	}
	v.snapshots = v.records[:min(len(list), 1)] // what is below the first counts as settled
	return v, err
}

// lookTwice looks again if there seems to be a gap.
func (s *Store) lookTwice(dir folder) (view, error) {
	v, err := s.look(dir, true)
	if err == nil && v.gap(v.base()) != nil {
		v, err = s.look(dir, true)
	}
	return v, err
}

// putFence writes a fence record and links it to number n.
func (s *Store) putFence(dir folder, n uint64, note string) (temp string, got outcome, err error) {
	data, err := encodeRecord(&Record{
		N: n, Kind: KindFence, Token: locking.Token(n), Time: s.now(), Host: s.Host, Reason: note,
	})
	if err != nil {
		return "", refused, err
	}
	if temp, err = s.writeRecord(dir, data); err != nil {
		return "", refused, err
	}
	got, err = place(s.FS, temp, dir.record(n))
	if err != nil {
		s.drop(temp) // one that lands late all the same does no harm
	}
	return temp, got, err
}
