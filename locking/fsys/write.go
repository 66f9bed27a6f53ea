package fsys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// WriteNew makes the file name with everything that write puts into it, and
// returns when its content is on stable storage (its name is not: see Publish).
// On any error the file is removed again.
func WriteNew(f FS, name string, write func(io.Writer) error) error {
	w, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, FilePerm)
	if err != nil {
		return err
	}
	err = write(w)
	if err == nil {
		err = w.Sync()
	}
	if cerr := w.Close(); err == nil {
		err = cerr // NFS reports a failed write-back here
	}
	if err != nil {
		_ = f.Remove(name)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// publishTries bounds how often a folder that is removed under our hands is made
// again: only its list's holder removes it, and only when it is empty.
const publishTries = 8

// How says how Publish gives a file its final name.
type How int

// ByLink fails with fs.ErrExist on a name that is taken and leaves the old name;
// ByRename replaces, and the old name is gone.
const (
	ByLink How = iota
	ByRename
)

// Publish gives oldname, a complete and synced file on the same file system, the
// name newname, and returns when that name is on stable storage. The folder is
// held open meanwhile, and made (again) if it is missing or goes away. A sync that
// fails after the name was made is an error: the outcome is then unknown.
func Publish(f FS, oldname, newname string, how How) error {
	own, err := f.Stat(oldname)
	if err != nil {
		return err
	}
	for range publishTries {
		err = publish(f, oldname, newname, how, own.Ino)
		if !Gone(err) {
			return err
		}
		if merr := MkdirAll(f, path.Dir(newname)); merr != nil {
			return merr
		}
	}
	return err
}

func publish(f FS, oldname, newname string, how How, ino uint64) error {
	d, err := f.OpenDir(path.Dir(newname))
	if err != nil {
		return err
	}
	defer d.Close()
	base := path.Base(newname)
	if how == ByLink {
		err = d.Link(oldname, base)
	} else {
		err = d.Rename(oldname, base)
	}
	if err != nil && !holds(d, base, ino) {
		return err
	}
	return d.Sync()
}

// holds looks whether the folder has name on the file ino.
func holds(d Dir, name string, ino uint64) bool {
	list, err := d.ReadDir()
	if err != nil {
		return false
	}
	e, ok := Find(list, name)
	return ok && e.Ino == ino
}

// ReadFile reads all of name, at most limit octets; a longer file is ErrTooLarge.
func ReadFile(f FS, name string, limit int64) ([]byte, error) {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	return data, nil
}

// ErrTooLarge: a file is longer than the reader was willing to take.
var ErrTooLarge = errors.New("file too large")
