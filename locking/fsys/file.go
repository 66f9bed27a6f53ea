package fsys

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// file is an open file of a Root.
type file struct {
	*os.File
	name string
}

// Stat implements File.
func (f *file) Stat() (Info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(int(f.Fd()), &st) })
	if err != nil {
		return Info{}, pathErr("stat", f.name, err)
	}
	return info(f.name, &st), nil
}

// dir is an open folder of a Root.
type dir struct {
	root *Root
	fd   int
	name string
}

// Link implements Dir.
func (d *dir) Link(oldname, newname string) error {
	if err := locals("link", oldname, newname); err != nil {
		return err
	}
	return linkErr("link", oldname, d.name+"/"+newname, retry(func() error {
		return unix.Linkat(d.root.fd, oldname, d.fd, newname, 0)
	}))
}

// Rename implements Dir.
func (d *dir) Rename(oldname, newname string) error {
	if err := locals("rename", oldname, newname); err != nil {
		return err
	}
	return linkErr("rename", oldname, d.name+"/"+newname, retry(func() error {
		return unix.Renameat(d.root.fd, oldname, d.fd, newname)
	}))
}

// ReadDir implements Dir. It opens the folder again through its descriptor:
// opening is what makes an NFS client ask whether the folder changed.
func (d *dir) ReadDir() ([]DirEntry, error) {
	fd, err := retryFD(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, pathErr("readdir", d.name, err)
	}
	defer unix.Close(fd)
	list, err := readDir(fd)
	return list, pathErr("readdir", d.name, err)
}

// Touch implements Dir.
func (d *dir) Touch() error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return pathErr("touch", d.name, retry(func() error {
		return unix.UtimesNanoAt(d.fd, ".", now, 0)
	}))
}

// Stat implements Dir.
func (d *dir) Stat() (Info, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(d.fd, &st) }); err != nil {
		return Info{}, pathErr("stat", d.name, err)
	}
	return info(d.name, &st), nil
}

// Sync implements Dir.
func (d *dir) Sync() error {
	return pathErr("sync", d.name, retry(func() error { return unix.Fsync(d.fd) }))
}

// Close implements Dir.
func (d *dir) Close() error { return pathErr("close", d.name, unix.Close(d.fd)) }

// The standard permissions on the share: the qrunner user and its group. Folders
// are setgid, so that a host with another primary group keeps the group.
const (
	FilePerm fs.FileMode = 0o660
	DirPerm  fs.FileMode = 0o770 | fs.ModeSetgid
)

// ServerNow touches name, a file of the caller's own, and returns the server's
// time and the file's attributes, both fresh.
func ServerNow(f FS, name string) (time.Time, Info, error) {
	if err := f.Touch(name); err != nil {
		return time.Time{}, Info{}, err
	}
	st, err := f.Stat(name)
	return st.Mtime, st, err
}
