package store

import (
	"context"
	"fmt"

	"qrunner/lists"
)

// loadTries bounds how often a listing is made anew while the list is moving.
const loadTries = 4

// Read gives a list's newest state without a lock. The state in memory is brought
// up to date by what is new in the log. lists.ErrNoList is certain; a list whose
// files are damaged or missing is refused (*CorruptError, *GapError, ErrNewer)
// rather than shown in part.
func (s *Store) Read(ctx context.Context, id lists.ID) (*State, error) {
	turn := s.cache.turn(id)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	g, known := s.cache.generation(id, 0)
	if !known || g.Incarnation == "" {
		var err error
		if g, err = s.current(ctx, id); err != nil {
			return nil, err
		}
	}
	st, err := s.load(ctx, g)
	if err == nil && !st.deleted {
		return st, nil
	}
	// Deleted, perhaps made again, perhaps swept away under our eyes.
	now, nerr := s.current(ctx, id)
	switch {
	case nerr != nil:
		return nil, nerr
	case now.N > g.N:
		st, err = s.load(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("read list %s: %w", id, err)
	}
	if st.deleted {
		_ = s.bury(now) // whoever deleted it did not get so far
		return nil, noListError(id)
	}
	return st, nil
}

// load reads the state at the end of the chain. For a reader what stands
// behind a gap does not exist, but the gap is looked at twice.
func (s *Store) load(ctx context.Context, g generation) (st *State, err error) {
	for try := range loadTries {
		var v view
		if v, err = s.look(g.dir(), try > 0); err == nil {
			if try == 0 && v.gap(v.base()) != nil {
				continue
			}
			st, err = s.build(ctx, g, v, 0)
		}
		if err == nil || !again(err) {
			break
		}
	}
	return st, err
}
