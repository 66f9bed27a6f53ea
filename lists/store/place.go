package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"

	"qrunner/locking/fsys"
)

// outcome is what became of an attempt to publish a file under a name.
type outcome int

const (
	placed  outcome = iota // the name is ours and on stable storage
	taken                  // another file has the name
	refused                // the share said no; nothing changed
	unknown                // the name may be ours, now or later
)

// place links temp, a complete file with no other name, to name. The error says
// why for refused and unknown.
func place(f fsys.FS, temp, name string) (outcome, error) {
	d, err := f.OpenDir(path.Dir(name))
	if err != nil {
		return refused, err
	}
	defer d.Close()
	if err := d.Link(temp, path.Base(name)); err != nil {
		ours, lerr := linked(f, temp)
		switch {
		case lerr != nil:
			return unknown, errors.Join(err, lerr)
		case ours: // the answer was lost, or is that to a repeated call
		case errors.Is(err, fs.ErrExist):
			return taken, nil
		case refusal(err):
			return refused, err
		default:
			return unknown, err
		}
	}
	if err := d.Sync(); err != nil {
		return unknown, err
	}
	return placed, nil
}

// linked reports whether temp, a file of our own, has its second name now. The
// count is fresh because the touch goes to the server.
func linked(f fsys.FS, temp string) (bool, error) {
	_, st, err := fsys.ServerNow(f, temp)
	return err == nil && st.Nlink > 1, err
}

// refusal reports errors by which a server says that it did nothing. Others (EIO,
// ETIMEDOUT) leave open what it did.
func refusal(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM,
		syscall.ENOENT, syscall.ESTALE, syscall.ENOTDIR, syscall.EMLINK, syscall.ENAMETOOLONG,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// writeRecord makes the file of a record under a private name.
func (s *Store) writeRecord(dir folder, data []byte) (temp string, err error) {
	temp = dir.temp("record")
	err = fsys.WriteNew(s.FS, temp, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	return temp, nil
}

// drop removes a private name. If that fails, the file waits for the sweep.
func (s *Store) drop(temp string) {
	if temp != "" {
		_ = s.FS.Remove(temp)
	}
}
