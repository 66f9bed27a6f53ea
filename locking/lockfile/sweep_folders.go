package lockfile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"qrunner/locking/fsys"
)

// SweepFolders removes what crashes left of locks that nobody will ask for again: of
// keys of several segments that begin with the segment under, such as those of
// deliveries. A folder goes when all that is in it was left alone for SweepAge by the
// server's clock, which no lock is that anybody holds or awaits. Any host may call it,
// now and then.
func (l *Locker) SweepFolders(ctx context.Context, under string) error {
	dir := l.cfg.Root + "/" + under
	d, err := l.cfg.FS.OpenDir(dir)
	if fsys.Gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep lock folders: %w", err)
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return fmt.Errorf("sweep lock folders: %w", err)
	}
	st, err := d.Stat()
	if err != nil {
		return fmt.Errorf("sweep lock folders: %w", err)
	}
	list, err := d.ReadDir()
	errs := []error{err}
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, file := parseName(e.Name); !file {
			errs = append(errs, l.sweepFolder(dir+"/"+e.Name, st.Mtime))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep lock folders: %w", err)
	}
	return nil
}

// sweepFolder removes one folder if everything in it is old.
func (l *Locker) sweepFolder(dir string, now time.Time) error {
	files, err := l.cfg.FS.ReadDir(dir)
	if fsys.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		st, err := l.cfg.FS.Stat(dir + "/" + f.Name)
		if _, ours := parseName(f.Name); err != nil || !ours || now.Sub(st.Mtime) <= l.cfg.SweepAge {
			return nil
		}
	}
	for _, f := range files {
		if err := fsys.RemoveAny(l.cfg.FS, dir+"/"+f.Name); err != nil {
			return err
		}
		l.counted(func(st *Stats) { st.Swept++ })
	}
	_ = l.cfg.FS.Remove(dir) // fails unless it is empty
	return nil
}
