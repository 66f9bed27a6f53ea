package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"qrunner/locking/fsys"
)

// tmpAge is how old a file in tmp/ must be, by the server's clock, to be nobody's.
// No call hangs so long; if one did, its rename would fail and the mail be tried again.
const tmpAge = 24 * time.Hour

// SweepTmp removes files that crashes left in tmp/, by age on the server's clock.
// Any host may call it at any time.
func (s *Spool) SweepTmp(ctx context.Context) error {
	probe := s.tmpName()
	w, err := s.create(probe)
	if err != nil {
		return fmt.Errorf("sweep tmp: %w", err)
	}
	_ = w.Close()
	defer func() { _ = s.c.FS.Remove(probe) }()
	now, _, err := fsys.ServerNow(s.c.FS, probe)
	if err != nil {
		return fmt.Errorf("sweep tmp: %w", err)
	}
	dir := path.Dir(probe)
	all, err := s.c.FS.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("sweep tmp: %w", err)
	}
	var errs []error
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sweep tmp: %w", err)
		}
		name := path.Join(dir, e.Name)
		// A stale answer shows an older time of a file that is being written; its
		// making is no older than that.
		st, err := s.c.FS.Stat(name)
		if err == nil && !st.Mode.IsDir() && now.Sub(st.Mtime) > tmpAge {
			errs = append(errs, fsys.RemoveAny(s.c.FS, name))
			s.c.Log.InfoContext(ctx, "removed what a crash left", "entry", e.Name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep tmp: %w", err)
	}
	return nil
}
