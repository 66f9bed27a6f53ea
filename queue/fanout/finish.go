package fanout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// doneDir takes fan-outs that are finished, out of everybody's way, to be deleted.
const doneDir = "queue/done"

// toDelete is how many folders may wait to be deleted beside the deliveries; more
// slow the deliveries down.
const toDelete = 64

// finish takes a finished fan-out out of the queue in one step, to be deleted.
func (s *Sender) finish(ctx context.Context, dir string, id queue.ID) error {
	to := doneDir + "/" + string(id)
	if err := rename(s.c.FS, dir, to); err != nil {
		return err
	}
	select {
	case s.finished <- to:
		return nil
	default:
		return s.clear(ctx, to)
	}
}

// clear deletes folders in done/. That they are there is on stable storage before the
// first file goes: or else a power cut could bring a folder back into out/ with its
// recipients, and without the journals that say who has had his copy.
func (s *Sender) clear(ctx context.Context, dirs ...string) error {
	if len(dirs) == 0 {
		return nil
	}
	if err := fsys.SyncDir(s.c.FS, doneDir); err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, s.remove(ctx, dir))
	}
	return errors.Join(errs...)
}

// sweep deletes what finish leaves, until ctx ends; walkers find the rest.
func (s *Sender) sweep(ctx context.Context) {
	for {
		select {
		case dir := <-s.finished:
			dirs := []string{dir}
			for range len(s.finished) { // whatever else waits shares the sync
				dirs = append(dirs, <-s.finished)
			}
			if err := s.clear(ctx, dirs...); err != nil && ctx.Err() == nil {
				s.c.Log.InfoContext(ctx, "delete finished fan-out", "err", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// remove deletes a folder in done/: the recipients first, so that a sleeper that
// still comes in has nothing to send; the mark last, so that what is left after a
// crash says what it is. Any host may finish it; what cannot be removed now (a name
// that this host still believes missing), a later sweep removes.
func (s *Sender) remove(ctx context.Context, dir string) error {
	for range removeTries {
		list, err := listing(s.c.FS, dir)
		if fsys.Gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		slices.SortStableFunc(list, func(a, b fsys.DirEntry) int { return cmp.Compare(turnToGo(a.Name), turnToGo(b.Name)) })
		for _, e := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.c.FS.Remove(dir + "/" + e.Name); err != nil && !fsys.Gone(err) {
				return err
			}
		}
		if err = s.c.FS.Remove(dir); err == nil || fsys.Gone(err) {
			return nil
		}
	}
	return nil
}

// removeTries bounds how often a folder is listed that does not get empty.
const removeTries = 3

// listing lists a folder afresh, after a change of our own.
func listing(f fsys.FS, dir string) ([]fsys.DirEntry, error) {
	d, err := f.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return nil, err
	}
	return d.ReadDir()
}

// turnToGo orders the deletion.
func turnToGo(name string) int {
	switch {
	case name == spool.RecipientsFile:
		return 0
	case name == finishedMark:
		return 3
	case strings.HasPrefix(name, journalStem):
		return 2
	}
	return 1
}
