package store

import (
	"context"
	"fmt"
	"io"
	"path"
	"time"

	"qrunner/locking/fsys"
)

// tempAge is how old, by the server's clock, a file in tmp/ is when it is taken for
// the leftover of a process that died. Nothing else on the share depends on it: who
// has lost such a file finds its link refused.
const tempAge = 24 * time.Hour

// keepShort publishes a snapshot, and collects what the last two make needless. It
// runs outside the lease: a snapshot is a pure function of the log, and if another
// host makes one at the same time it is as good. Failing is no harm, so nobody is
// told but the log.
func (s *Store) keepShort(ctx context.Context, g generation, st *State) {
	err := s.putSnapshot(g.dir(), st)
	if err == nil {
		err = s.collect(ctx, g.dir())
	}
	if err != nil {
		s.Log.Warn("snapshot or its cleaning up was not finished", "list", g.List, "err", err)
	}
}

// every is how many records are between snapshots.
func (s *Store) every(st *State) uint64 {
	return uint64(s.SnapshotEvery + st.roster.len()/1000)
}

// putSnapshot publishes the state. Another host may have been faster: it wrote the
// same.
func (s *Store) putSnapshot(dir folder, st *State) error {
	temp := dir.temp("snapshot")
	if err := fsys.WriteNew(s.FS, temp, func(w io.Writer) error { return writeSnapshot(w, st) }); err != nil {
		return err
	}
	defer s.drop(temp)
	_, err := place(s.FS, temp, dir.snapshot(st.version))
	if err != nil {
		return fmt.Errorf("snapshot %d: %w", st.version, err)
	}
	return nil
}

// collect removes what lies at or below the third newest snapshot: that one, its
// records and side files. Strictly in ascending order, by number and never by age,
// so that whoever still sees record n knows that n+1 was never removed. What the
// records changed is kept for the audit trail.
func (s *Store) collect(ctx context.Context, dir folder) error {
	v, err := s.look(dir, true)
	if err != nil || len(v.snapshots) < 3 {
		return err
	}
	limit := v.snapshots[len(v.snapshots)-3]
	if err := s.keepHistory(ctx, dir, limit); err != nil {
		return err
	}
	for _, n := range v.records {
		if n > limit {
			break
		}
		if err := fsys.RemoveAny(s.FS, dir.record(n)); err != nil {
			return err
		}
	}
	for _, n := range v.snapshots {
		if n > limit {
			break
		}
		if err := fsys.RemoveAny(s.FS, dir.snapshot(n)); err != nil {
			return err
		}
	}
	return s.sweep(dir, limit)
}

// sweep removes side files whose record is gone, and old temporary files.
func (s *Store) sweep(dir folder, limit uint64) error {
	sides, err := s.FS.ReadDir(dir.sides())
	if err != nil {
		return err
	}
	for _, e := range sides {
		if n, ok := parseNumber(e.Name[:min(len(e.Name), 20)]); ok && n <= limit {
			if err := fsys.RemoveAny(s.FS, dir.side(e.Name)); err != nil {
				return err
			}
		}
	}
	temps, err := s.FS.ReadDir(dir.temps())
	if err != nil || len(temps) == 0 {
		return err
	}
	clock := dir.temp("clock")
	if err := fsys.WriteNew(s.FS, clock, func(io.Writer) error { return nil }); err != nil {
		return err
	}
	defer s.drop(clock)
	now, _, err := fsys.ServerNow(s.FS, clock)
	if err != nil {
		return err
	}
	for _, e := range temps {
		name := path.Join(dir.temps(), e.Name)
		if st, err := s.FS.Stat(name); err == nil && now.Sub(st.Mtime) > tempAge {
			s.drop(name)
		}
	}
	return nil
}
