package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

// folderTries bounds how often a folder that goes away under our hands is made again.
const folderTries = 8

// staleTries is how often a name is looked up before ESTALE means that it is gone.
const staleTries = 3

// claim is a private file with our record in it. Linked to the lock's name it is the
// lock. Once it had a second name and did not become the lock it is never used again:
// a link count of two must mean one thing.
type claim struct {
	name string
	ino  uint64
	rec  record
}

// create makes a private file of the given kind, and its folder where it is missing.
func (l *Locker) create(p paths, kind string) (fsys.File, string, error) {
	var err error
	for range folderTries {
		name := l.private(p, kind)
		var f fsys.File
		f, err = l.cfg.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fsys.FilePerm)
		switch {
		case err == nil:
			return f, name, nil
		case errors.Is(err, fs.ErrExist): // another name
		case !fsys.Gone(err):
			return nil, "", err
		case l.cfg.Plain:
			return nil, "", err
		default:
			if merr := l.mkdir(p.dir); merr != nil {
				return nil, "", merr
			}
		}
	}
	return nil, "", err
}

// mkdir makes a lock's folder. Nothing is synced: a folder lost in a power cut is
// made again by the next one who wants a lock.
func (l *Locker) mkdir(dir string) error {
	err := l.cfg.FS.Mkdir(dir, fsys.DirPerm)
	if errors.Is(err, fs.ErrNotExist) && path.Dir(dir) != dir {
		if err = l.mkdir(path.Dir(dir)); err != nil {
			return err
		}
		err = l.cfg.FS.Mkdir(dir, fsys.DirPerm)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) && !fsys.Gone(err) {
		return err
	}
	return nil
}

// newClaim makes a claim with a complete record.
func (l *Locker) newClaim(p paths, life time.Duration, note string) (*claim, error) {
	f, name, err := l.create(p, kindClaim)
	if err != nil {
		return nil, fmt.Errorf("make claim: %w", err)
	}
	st, err := f.Stat()
	c := &claim{name: name, ino: st.Ino, rec: record{
		Owner: l.cfg.Host, Nonce: l.random(2), Claim: path.Base(name),
		Lifetime: life, Since: st.Mtime, Note: note,
	}}
	if err == nil {
		_, err = f.Write(c.rec.encode())
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = l.cfg.FS.Remove(name)
		return nil, fmt.Errorf("write claim: %w", err)
	}
	return c, nil
}

// touch refreshes a claim and returns its number of links and the server's time, both
// as of now. A claim that is no longer there, or no longer ours, is ENOENT.
func (l *Locker) touch(c *claim) (links uint64, now time.Time, err error) {
	var st fsys.Info
	for range staleTries {
		now, st, err = fsys.ServerNow(l.cfg.FS, c.name)
		if !errors.Is(err, syscall.ESTALE) {
			break
		}
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	if st.Ino != c.ino {
		return 0, time.Time{}, &fs.PathError{Op: "touch", Path: c.name, Err: syscall.ENOENT}
	}
	return st.Nlink, now, nil
}

// standing is what a look at our own claim and its folder says.
type standing struct {
	owner bool            // the lock's name is on our claim
	now   time.Time       // by the server's clock
	names []fsys.DirEntry // the folder
}

// owns applies the ownership rule: the claim has its two links, and the folder's
// listing shows our file at the lock's name. The count alone would not do: a
// rename-over leaves a lock that some process of that host has open under a name
// .nfs..., and the old claim with two links. A caller that has just changed the
// folder itself passes changed; otherwise, and before the answer is no, the folder
// is touched, so that the listing is a fresh one.
func (l *Locker) owns(p paths, c *claim, changed bool) (standing, error) {
	links, now, err := l.touch(c)
	if fsys.Gone(err) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, fmt.Errorf("verify lock: %w", err)
	}
	if links < 2 {
		return standing{now: now}, nil
	}
	return l.named(p, c, now, changed)
}

// named is the second half of owns, for a claim that was just seen to have two links.
func (l *Locker) named(p paths, c *claim, now time.Time, changed bool) (standing, error) {
	s := standing{now: now}
	var err error
	for _, fresh := range []bool{!changed, true} {
		if s.names, err = l.list(p.dir, fresh); err != nil {
			return s, fmt.Errorf("verify lock: %w", err)
		}
		e, ok := fsys.Find(s.names, p.lockBase())
		if s.owner = ok && e.Ino == c.ino; s.owner || fresh {
			break
		}
	}
	if !s.owner {
		l.countSilly(s.names, c)
	}
	return s, nil
}

// list lists a folder, after touching it if fresh.
func (l *Locker) list(dir string, fresh bool) ([]fsys.DirEntry, error) {
	if !fresh {
		return l.cfg.FS.ReadDir(dir)
	}
	d, err := l.cfg.FS.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return nil, err
	}
	return d.ReadDir()
}

// countSilly counts a lock of ours that is there still, under another name.
func (l *Locker) countSilly(names []fsys.DirEntry, c *claim) {
	for _, e := range names {
		if e.Ino == c.ino && e.Name != path.Base(c.name) {
			l.counted(func(s *Stats) { s.SillyNames++ })
		}
	}
}
