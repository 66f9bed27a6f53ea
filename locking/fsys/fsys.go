// Package fsys is the only door to the share: the directory tree, usually on NFS,
// that all hosts have in common.
//
// FS is what qrunner needs of a file system and no more. Open is the real one;
// locking/simfs is a simulated NFS server with several hosts looking at it. The
// functions of this package build on FS what every caller needs: calls whose
// outcome is looked up after an error (a lost NFS answer turns a call that was
// done into EEXIST or ENOENT, RFC 1813 §4.5), files that are complete before
// they have a name, and the server's clock.
//
// What may be believed on NFS (measured on kernel clients, v3 and v4.2):
// nothing is decided by Stat or OpenFile of a name that another host may have
// made or replaced. Fresh are: the caller's own Link onto a name, a listing after
// a change of the caller's own in that folder, the link count and mtime of the
// caller's own file right after Touch of it.
package fsys

import (
	"io"
	"io/fs"
	"time"
)

// FS is a view of the share from one host. Names are slash-separated, relative to
// the share's root, and never leave it. Errors are *fs.PathError or *os.LinkError
// around a syscall.Errno. Any call may block for minutes on a hard mount: a caller
// must hold no mutex across one, and keep its deadlines outside.
type FS interface {
	// OpenFile is open(2). Flags as in package os.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// OpenDir opens a folder, so that names can be made in the folder that is
	// meant even if another host removes and re-makes it meanwhile.
	OpenDir(name string) (Dir, error)
	// Link gives oldname a second name. It fails with EEXIST if newname exists:
	// the only put-if-absent on NFS.
	Link(oldname, newname string) error
	// Rename moves a file over newname, or a folder onto a free name.
	Rename(oldname, newname string) error
	// Remove is unlink(2), or rmdir(2) for a folder.
	Remove(name string) error
	// Mkdir makes one folder; its parent must exist.
	Mkdir(name string, perm fs.FileMode) error
	// Stat does not follow a symbolic link. On NFS it may be stale: see above.
	Stat(name string) (Info, error)
	// Touch sets the mtime to the server's present time (UTIME_NOW).
	Touch(name string) error
	// SetMtime sets the mtime to t as given.
	SetMtime(name string, t time.Time) error
	// ReadDir lists a folder afresh, in name order, without "." and "..".
	ReadDir(name string) ([]DirEntry, error)
}

// File is an open file of the share.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync returns when the content is on the server's stable storage.
	Sync() error
	// Stat is fresh right after opening (close-to-open).
	Stat() (Info, error)
	// Truncate cuts a torn end.
	Truncate(size int64) error
	// Chmod sets the permission bits whatever the umask says.
	Chmod(mode fs.FileMode) error
}

// Dir is an open folder. Its methods act on the folder itself, whatever its name
// means by now; in one that was removed they fail with ENOENT or ESTALE.
type Dir interface {
	// Link gives the file oldname (a path from the share's root) the name newname here.
	Link(oldname, newname string) error
	// Rename moves oldname (a path from the share's root) to newname here.
	Rename(oldname, newname string) error
	// ReadDir lists the folder afresh, in name order.
	ReadDir() ([]DirEntry, error)
	// Touch sets the folder's mtime to the server's present time, which makes
	// every host's next listing a fresh one.
	Touch() error
	// Stat gives the folder's own attributes, fresh after Touch.
	Stat() (Info, error)
	// Sync returns when the names made here are on stable storage.
	Sync() error
	io.Closer
}

// Info is what a file's attributes say. Dev and Ino together name a file; an Ino is
// reused soon after the file is gone.
type Info struct {
	Name  string
	Size  int64
	Mode  fs.FileMode
	Mtime time.Time
	Ctime time.Time
	Dev   uint64
	Ino   uint64
	Nlink uint64
	UID   uint32
	GID   uint32
}

// SameFile reports whether two Infos are of one file.
func (i Info) SameFile(o Info) bool { return i.Dev == o.Dev && i.Ino == o.Ino }

// DirEntry is a line of a listing. Ino is the number of the file under that name
// when the listing was made; Type has only the type bits and may be 0 (unknown).
type DirEntry struct {
	Name string
	Ino  uint64
	Type fs.FileMode
}
