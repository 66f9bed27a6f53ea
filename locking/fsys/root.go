package fsys

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Root is the real FS: a directory tree named by an open descriptor, so that a
// share that is unmounted under a running process is an error rather than an
// empty folder.
type Root struct {
	fd   int
	path string
}

var _ FS = (*Root)(nil)

// Open opens the tree at dir. Close it when nothing uses it any more.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open share: %w", err)
	}
	fd, err := retryFD(func() (int, error) {
		return unix.Open(abs, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open share", Path: abs, Err: err}
	}
	return &Root{fd: fd, path: abs}, nil
}

// Path is the absolute path the tree was opened by.
func (r *Root) Path() string { return r.path }

// Close gives the descriptor back.
func (r *Root) Close() error { return unix.Close(r.fd) }

// local refuses names that would leave the tree, and such as are not in their shortest
// form. fs.ValidPath would do but for names that are not UTF-8, which may be there.
func local(op, name string) error {
	for rest, more := name, name != "."; more; {
		var seg string
		if seg, rest, more = strings.Cut(rest, "/"); seg == "" || seg == "." || seg == ".." {
			return &fs.PathError{Op: op, Path: name, Err: unix.EINVAL}
		}
	}
	return nil
}

func locals(op string, names ...string) error {
	for _, name := range names {
		if err := local(op, name); err != nil {
			return err
		}
	}
	return nil
}

func pathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func linkErr(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func retryFD(f func() (int, error)) (int, error) {
	for {
		if n, err := f(); err != unix.EINTR {
			return n, err
		}
	}
}

// OpenFile implements FS.
func (r *Root) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := local("open", name); err != nil {
		return nil, err
	}
	fd, err := retryFD(func() (int, error) {
		return unix.Openat(r.fd, name, flag|unix.O_CLOEXEC|unix.O_NOFOLLOW, uint32(perm.Perm()))
	})
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return &file{File: os.NewFile(uintptr(fd), name), name: name}, nil
}

// OpenDir implements FS.
func (r *Root) OpenDir(name string) (Dir, error) {
	if err := local("opendir", name); err != nil {
		return nil, err
	}
	fd, err := r.openDir(name)
	if err != nil {
		return nil, pathErr("opendir", name, err)
	}
	return &dir{root: r, fd: fd, name: name}, nil
}

func (r *Root) openDir(name string) (int, error) {
	return retryFD(func() (int, error) {
		return unix.Openat(r.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
}

// Link implements FS.
func (r *Root) Link(oldname, newname string) error {
	if err := locals("link", oldname, newname); err != nil {
		return err
	}
	return linkErr("link", oldname, newname, retry(func() error {
		return unix.Linkat(r.fd, oldname, r.fd, newname, 0)
	}))
}

// Rename implements FS.
func (r *Root) Rename(oldname, newname string) error {
	if err := locals("rename", oldname, newname); err != nil {
		return err
	}
	return linkErr("rename", oldname, newname, retry(func() error {
		return unix.Renameat(r.fd, oldname, r.fd, newname)
	}))
}

// Remove implements FS.
func (r *Root) Remove(name string) error {
	if err := local("remove", name); err != nil {
		return err
	}
	err := retry(func() error { return unix.Unlinkat(r.fd, name, 0) })
	if err == unix.EISDIR || err == unix.EPERM {
		err = retry(func() error { return unix.Unlinkat(r.fd, name, unix.AT_REMOVEDIR) })
		if err == unix.ENOTDIR {
			err = unix.EPERM
		}
	}
	return pathErr("remove", name, err)
}

// Mkdir implements FS.
func (r *Root) Mkdir(name string, perm fs.FileMode) error {
	if err := local("mkdir", name); err != nil {
		return err
	}
	mode := uint32(perm.Perm())
	if perm&fs.ModeSetgid != 0 {
		mode |= unix.S_ISGID
	}
	return pathErr("mkdir", name, retry(func() error { return unix.Mkdirat(r.fd, name, mode) }))
}

// Stat implements FS.
func (r *Root) Stat(name string) (Info, error) {
	if err := local("stat", name); err != nil {
		return Info{}, err
	}
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(r.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Info{}, pathErr("stat", name, err)
	}
	return info(name, &st), nil
}

// Touch implements FS.
func (r *Root) Touch(name string) error {
	return r.utimes("touch", name, unix.Timespec{Nsec: unix.UTIME_NOW})
}

// SetMtime implements FS.
func (r *Root) SetMtime(name string, t time.Time) error {
	return r.utimes("set mtime", name, unix.NsecToTimespec(t.UnixNano()))
}

func (r *Root) utimes(op, name string, ts unix.Timespec) error {
	if err := local(op, name); err != nil {
		return err
	}
	// Both stamps UTIME_NOW need only write permission; a UTIME_OMIT for the atime
	// would need ownership.
	times := []unix.Timespec{ts, ts}
	return pathErr(op, name, retry(func() error {
		return unix.UtimesNanoAt(r.fd, name, times, unix.AT_SYMLINK_NOFOLLOW)
	}))
}

// ReadDir implements FS.
func (r *Root) ReadDir(name string) ([]DirEntry, error) {
	if err := local("readdir", name); err != nil {
		return nil, err
	}
	fd, err := r.openDir(name)
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	defer unix.Close(fd)
	list, err := readDir(fd)
	return list, pathErr("readdir", name, err)
}

func info(name string, st *unix.Stat_t) Info {
	return Info{
		Name:  name[strings.LastIndexByte(name, '/')+1:],
		Size:  st.Size,
		Mode:  mode(st.Mode),
		Mtime: time.Unix(st.Mtim.Unix()),
		Ctime: time.Unix(st.Ctim.Unix()),
		Dev:   uint64(st.Dev),
		Ino:   st.Ino,
		Nlink: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
	}
}

func mode(m uint32) fs.FileMode {
	out := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		out |= fs.ModeDir
	case unix.S_IFLNK:
		out |= fs.ModeSymlink
	case unix.S_IFREG:
	default:
		out |= fs.ModeIrregular
	}
	if m&unix.S_ISGID != 0 {
		out |= fs.ModeSetgid
	}
	return out
}
