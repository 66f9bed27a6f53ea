package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Put makes an entry of e, which must have Queue and List, and returns its name. It
// fills e.ID, and e.Received where that is zero. When it returns nil the entry is
// on stable storage and visible; on an error e is unchanged and nothing that
// anybody would pick up was left, as far as the share allows (an fsync of the
// folder that fails leaves a doubt, settled towards removal).
func (s *Spool) Put(ctx context.Context, e *queue.Entry) (queue.ID, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("put entry: %w", err)
	}
	tmp := s.tmpName()
	c, err := s.write(tmp, *e)
	if err != nil {
		return "", fmt.Errorf("put entry: %w", err)
	}
	target := path.Join(Dir(c.Queue, c.List), string(c.ID))
	// From here on the work is done to its end: half of it helps nobody.
	if err := s.publish(context.WithoutCancel(ctx), tmp, target); err != nil {
		_ = s.c.FS.Remove(tmp)
		_ = s.c.FS.Remove(target)
		return "", fmt.Errorf("put entry: %w", err)
	}
	e.ID, e.Received = c.ID, c.Received
	return c.ID, nil
}

// write makes the file tmp of an entry, named by the server's clock, and returns
// the entry when the file's content is on stable storage. On an error no file is left.
func (s *Spool) write(tmp string, e queue.Entry) (queue.Entry, error) {
	w, err := s.create(tmp)
	if err != nil {
		_ = s.c.FS.Remove(tmp) // made after all, perhaps
		return e, err
	}
	now, _, err := fsys.ServerNow(s.c.FS, tmp)
	if err == nil {
		e.ID = s.newID(now)
		if e.Received.IsZero() {
			e.Received = now.UTC()
		}
		err = writeEntry(w, &e)
	}
	if cerr := w.Close(); err == nil {
		err = cerr // NFS reports a failed write-back here
	}
	if err != nil {
		_ = s.c.FS.Remove(tmp)
	}
	return e, err
}

func writeEntry(w fsys.File, e *queue.Entry) error {
	data, err := Encode(e)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Sync()
}

// create makes a new file, and its folder if it has to.
func (s *Spool) create(name string) (fsys.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	w, err := s.c.FS.OpenFile(name, flags, fsys.FilePerm)
	if !fsys.Gone(err) {
		return w, err
	}
	if merr := fsys.MkdirAll(s.c.FS, path.Dir(name)); merr != nil {
		return nil, errors.Join(err, merr)
	}
	return s.c.FS.OpenFile(name, flags, fsys.FilePerm)
}
