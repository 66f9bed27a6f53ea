package probe

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

const noLinks = "use a file system with hard links (NFS, ext4, xfs, zfs; not sshfs, SMB, FAT)"

func (t *trial) put(name string) error {
	return fsys.WriteNew(t.fs, t.name(name), func(w io.Writer) error {
		_, err := io.WriteString(w, "qrunner probe\n")
		return err
	})
}

func (t *trial) create() Finding {
	for _, name := range []string{"a", "b", "c"} {
		if err := t.put(name); err != nil {
			return unfit("", "free space or quota, and permissions, on the share", "cannot make a file: %v", err)
		}
	}
	return ok("", "files can be made")
}

func (t *trial) link() Finding {
	if err := t.fs.Link(t.name("a"), t.name("lock")); err != nil {
		return unfit("", noLinks, "link fails: %v", err)
	}
	if err := t.fs.Link(t.name("b"), t.name("lock")); !errors.Is(err, fs.ErrExist) {
		return unfit("", noLinks, "a second link to a name that is taken answers %v, not EEXIST: two hosts could get one lock", err)
	}
	return ok("", "a name goes to one of two hosts")
}

func (t *trial) linkCount() Finding {
	_, st, err := fsys.ServerNow(t.fs, t.name("a"))
	if err != nil {
		return unfit("", noLinks, "cannot look at a file: %v", err)
	}
	if st.Nlink != 2 {
		return unfit("", noLinks, "a file with two names has %d links, not 2", st.Nlink)
	}
	return ok("", "a file with two names has two links")
}

func (t *trial) inode() Finding {
	a, err1 := t.fs.Stat(t.name("a"))
	l, err2 := t.fs.Stat(t.name("lock"))
	list, err3 := t.fs.ReadDir(t.dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		return unfit("", noLinks, "cannot compare: %v", err)
	}
	e, _ := fsys.Find(list, "lock")
	if !a.SameFile(l) || e.Ino != a.Ino {
		return unfit("", noLinks, "two names of one file have numbers %d, %d and %d in the listing", a.Ino, l.Ino, e.Ino)
	}
	return ok("", "names of one file have one inode number")
}

func (t *trial) renameOver() Finding {
	c, err := t.fs.Stat(t.name("c"))
	if err != nil {
		return unfit("", noLinks, "cannot look at a file: %v", err)
	}
	if err := t.fs.Rename(t.name("c"), t.name("lock")); err != nil {
		return unfit("", noLinks, "rename over a name fails: %v", err)
	}
	_, st, err := fsys.ServerNow(t.fs, t.name("a"))
	l, lerr := t.fs.Stat(t.name("lock"))
	if err := errors.Join(err, lerr); err != nil {
		return unfit("", noLinks, "cannot look at the result: %v", err)
	}
	if !l.SameFile(c) || st.Nlink != 1 {
		return unfit("", noLinks, "after a rename over a name the old file has %d links", st.Nlink)
	}
	return ok("", "rename replaces a name in one step")
}

func (t *trial) serverTime() Finding {
	if err := t.fs.SetMtime(t.name("a"), time.Unix(1000, 0)); err != nil {
		return unfit("", "the qrunner user must own its files", "cannot set a time: %v", err)
	}
	now, _, err := fsys.ServerNow(t.fs, t.name("a"))
	if err != nil {
		return unfit("", "allow utimensat(UTIME_NOW) on the share", "cannot set the server's time: %v", err)
	}
	if now.Unix() == 1000 {
		return unfit("", "allow utimensat(UTIME_NOW) on the share", "setting the server's time has no effect: no lock could be refreshed")
	}
	return ok("", "UTIME_NOW sets the server's time")
}

// clockSlop is how far apart clocks may be before people are confused by logs.
const clockSlop = 5 * time.Second

func (t *trial) clock() Finding {
	now, _, err := fsys.ServerNow(t.fs, t.name("a"))
	if err != nil {
		return unfit("", "", "cannot ask the server's time: %v", err)
	}
	off := now.Sub(t.now()).Round(time.Millisecond)
	if off.Abs() > clockSlop {
		return Finding{Level: Warn, Text: "the file server's clock is " + off.String() + " ahead of this host's", Remedy: "run NTP on both: locks do not depend on it, but logs and dates of mail do"}
	}
	return ok("", "the file server's clock is %v ahead of this host's", off)
}

func (t *trial) listing() Finding {
	for _, name := range []string{"x1", "x2"} {
		if err := t.put(name); err != nil {
			return unfit("", "", "cannot make a file: %v", err)
		}
		if there, err := fsys.Listed(t.fs, t.name(name)); err != nil || !there {
			return unfit("", "report this file system: qrunner cannot work on it", "a file that was just made is not in the listing (%v)", err)
		}
	}
	return ok("", "a listing shows what was just made")
}

func (t *trial) fsync() Finding {
	start := time.Now()
	if err := t.put("synced"); err != nil {
		return unfit("", "the share must be able to sync", "fsync of a file fails: %v", err)
	}
	if err := fsys.SyncDir(t.fs, t.dir); err != nil {
		return unfit("", "the share must be able to sync folders", "fsync of a folder fails: %v", err)
	}
	took := time.Since(start).Round(10 * time.Microsecond)
	if took > slow {
		return Finding{Level: Warn, Text: "a file and its folder take " + took.String() + " to sync", Remedy: "each post waits for several of these: a faster disk or a battery-backed cache"}
	}
	return ok("", "a file and its folder take %v to sync", took)
}

func (t *trial) longNames() Finding {
	long := strings.Repeat("n", 255)
	if err := t.put(long); err != nil {
		return unfit("", "use a file system with names of 255 octets", "a name of 255 octets fails: %v", err)
	}
	if err := t.put(long + "n"); !errors.Is(err, syscall.ENAMETOOLONG) {
		return Finding{Level: Warn, Text: "a name of 256 octets is not refused as too long"}
	}
	return ok("", "names of 255 octets")
}
