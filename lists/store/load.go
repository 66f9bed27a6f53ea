package store

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"qrunner/locking/fsys"
)

// readers bounds the records that are read from the share at once.
const readers = 8

// build makes the state of generation g at record through, or at the end of the
// chain if through is 0, from what view shows: by catching up what is in memory,
// or from a snapshot.
func (s *Store) build(ctx context.Context, g generation, v view, through uint64) (*State, error) {
	start, err := s.start(ctx, g, v, through)
	if err != nil {
		return nil, err
	}
	end := v.chain(start.version)
	if through > 0 {
		if end < through {
			return nil, &GapError{Dir: v.dir.log(), Missing: end + 1, Head: through}
		}
		end = through
	}
	if end == 0 {
		return nil, &GapError{Dir: v.dir.log(), Missing: 1, Head: v.head()}
	}
	if end == start.version {
		return start, nil
	}
	out, err := s.replay(ctx, v.dir, start, end)
	if err != nil {
		return nil, err
	}
	if err := s.settled(v.dir, start.version); err != nil {
		return nil, err
	}
	out.seal(&s.Config)
	s.cache.setState(out)
	return out, nil
}

// start is the state to begin from: what is in memory if nothing above it can
// have been collected, else the newest snapshot that is sound, else nothing at all.
func (s *Store) start(ctx context.Context, g generation, v view, through uint64) (*State, error) {
	if c := s.cache.state(g); c != nil && c.version >= v.base() && (through == 0 || c.version <= through) {
		return c, nil
	}
	for i := len(v.snapshots) - 1; i >= 0; i-- {
		if through > 0 && v.snapshots[i] > through {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := v.dir.snapshot(v.snapshots[i])
		st, err := readSnapshot(s.FS, name, g, v.snapshots[i])
		if err == nil {
			st.seal(&s.Config)
			return st, nil
		}
		if _, ok := errors.AsType[*CorruptError](err); !ok {
			return nil, err
		}
		s.Log.Error("snapshot is damaged; the one before it is used", "list", g.List, "err", err)
	}
	st := emptyState(g.List, g.Incarnation)
	return &st, nil
}

// replay applies the records above start up to end.
func (s *Store) replay(ctx context.Context, dir folder, start *State, end uint64) (*State, error) {
	d := start.edit()
	batch := make([]*Record, 8*readers)
	for n := start.version + 1; n <= end; {
		part := batch[:min(uint64(len(batch)), end-n+1)]
		if err := s.readRecords(ctx, dir, n, part); err != nil {
			return nil, err
		}
		for _, r := range part {
			if d.deleted {
				break
			}
			if err := s.apply(dir, d, r); err != nil {
				return nil, err
			}
		}
		n += uint64(len(part))
	}
	d.version = end
	return &d.State, nil
}

// readRecords fills out with the records from first on.
func (s *Store) readRecords(ctx context.Context, dir folder, first uint64, out []*Record) error {
	grp, ctx := errgroup.WithContext(ctx)
	grp.SetLimit(readers)
	for i := range out {
		grp.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				out[i], err = readRecord(s.FS, dir.record(first+uint64(i)), first+uint64(i))
			}
			return err
		})
	}
	return grp.Wait()
}

// apply carries out a record that is in the log.
func (s *Store) apply(dir folder, d *draft, r *Record) error {
	first := r.N == 1
	if first != (r.Kind == KindCreate) || first && (r.Incarnation != d.incarnation || r.List != d.id) {
		return &CorruptError{File: dir.record(r.N), Err: fmt.Errorf("a %s record of list %q, incarnation %q", r.Kind, r.List, r.Incarnation)}
	}
	d.begin(r)
	for _, c := range r.Changes {
		if imp, ok := c.(importMembers); ok {
			if err := s.applySide(dir, d, imp); err != nil {
				return err
			}
			continue
		}
		c.apply(d)
	}
	return nil
}

// again reports errors after which a new listing may help: a file that the
// listing had is gone, or one is missing in it.
func again(err error) bool {
	_, gap := errors.AsType[*GapError](err)
	return gap || fsys.Gone(err) || errors.Is(err, errMoved)
}
