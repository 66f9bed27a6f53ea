package fsys

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"syscall"
)

// LinkNew gives oldname, a file of the caller's own, the name newname. It returns
// nil if the name is on that file afterwards, whatever the call itself answered:
// the look is fresh because a failed link drops the client's cached entry. A name
// taken by another file is fs.ErrExist.
func LinkNew(f FS, oldname, newname string) error {
	err := f.Link(oldname, newname)
	if err == nil {
		return nil
	}
	own, serr := f.Stat(oldname)
	if serr != nil {
		return err
	}
	if got, serr := f.Stat(newname); serr == nil && got.SameFile(own) {
		return nil
	}
	return err
}

// RenameNew moves oldname onto newname. It returns nil if the file ino is under
// newname afterwards, whatever the call answered; ino 0 makes it trust the call.
func RenameNew(f FS, oldname, newname string, ino uint64) error {
	err := f.Rename(oldname, newname)
	if err == nil || ino == 0 {
		return err
	}
	if e, lerr := lookup(f, newname); lerr == nil && e.Ino == ino {
		return nil
	}
	return err
}

// lookup finds name by a fresh listing of its folder.
func lookup(f FS, name string) (DirEntry, error) {
	list, err := f.ReadDir(path.Dir(name))
	if err != nil {
		return DirEntry{}, err
	}
	if e, ok := Find(list, path.Base(name)); ok {
		return e, nil
	}
	return DirEntry{}, &fs.PathError{Op: "lookup", Path: name, Err: syscall.ENOENT}
}

// Find looks name up in a listing (which is in name order).
func Find(list []DirEntry, name string) (DirEntry, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(e DirEntry, n string) int {
		switch {
		case e.Name < n:
			return -1
		case e.Name > n:
			return 1
		}
		return 0
	})
	if !ok {
		return DirEntry{}, false
	}
	return list[i], true
}

// Listed reports whether a fresh listing of name's folder has it. The folder is
// touched first, so that not even a v3 client's unchanged folder time can hide it.
// A folder that is not there has no names; ESTALE is no answer, but an error.
func Listed(f FS, name string) (bool, error) {
	dir, err := f.OpenDir(path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer dir.Close()
	if err := dir.Touch(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	list, err := dir.ReadDir()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, ok := Find(list, path.Base(name))
	return ok, nil
}

// RemoveAny removes name; a name that is not there is no error.
func RemoveAny(f FS, name string) error {
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MkdirAll makes name and what is missing above it, and syncs the parent of each
// folder that it made. A folder that is there already is no error.
func MkdirAll(f FS, name string) error {
	if name == "." {
		return nil
	}
	err := f.Mkdir(name, DirPerm)
	if errors.Is(err, fs.ErrNotExist) {
		if err = MkdirAll(f, path.Dir(name)); err != nil {
			return err
		}
		err = f.Mkdir(name, DirPerm)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(f, path.Dir(name))
}

// SyncDir syncs the folder under name.
func SyncDir(f FS, name string) error {
	d, err := f.OpenDir(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// Gone reports whether err says that the name or its folder is not there: ENOENT,
// or ESTALE, which NFS gives in its place.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

// Trouble reports whether err is a trouble of the share or of this host rather
// than of the file's content: such errors are temporary, count against nobody and
// never move mail to bad/.
func Trouble(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EIO, syscall.ESTALE, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS,
		syscall.EACCES, syscall.EPERM, syscall.ETIMEDOUT, syscall.EMFILE, syscall.ENFILE,
		syscall.ENOMEM, syscall.EAGAIN, syscall.EBUSY, syscall.EMLINK, syscall.ENODEV,
		syscall.ENXIO, syscall.ENOTCONN, syscall.EHOSTDOWN, syscall.EREMOTEIO,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
