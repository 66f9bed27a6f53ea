package simfs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

// local refuses names that would leave the tree.
func local(name string) error {
	if name == "." || (filepath.IsLocal(name) && path.Clean(name) == name) {
		return nil
	}
	return syscall.EINVAL
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

// byPath is a call about one path.
func (h *Host) byPath(op, name string, run func(c *call) error) error {
	if err := local(name); err != nil {
		return pathErr(op, name, err)
	}
	return pathErr(op, name, h.do(op, name, func(c *call) error {
		return h.steady(func() error { return run(c) }, name)
	}))
}

// place finds where a link or rename puts its new name.
type place func() (dir handle, base string, err error)

func (h *Host) at(name string) place {
	return func() (handle, string, error) { return h.walk(name) }
}

// Link implements fsys.FS.
func (h *Host) Link(oldname, newname string) error {
	if err := local(newname); err != nil {
		return linkErr("link", oldname, newname, err)
	}
	return linkErr("link", oldname, newname, h.link("link", oldname, newname, h.at(newname)))
}

func (h *Host) link(op, oldname, newname string, to place) error {
	if err := local(oldname); err != nil {
		return err
	}
	return h.do(op, newname, func(c *call) error {
		return h.steady(func() error { return h.linkOnce(c, oldname, to) }, oldname, newname)
	})
}

// linkOnce goes to the server whatever the cache says of the new name, and the
// cache forgets that name.
func (h *Host) linkOnce(c *call, oldname string, to place) error {
	file, err := h.find(oldname)
	if err != nil {
		return err
	}
	dir, base, err := to()
	switch {
	case err != nil:
		return err
	case base == ".":
		return syscall.EEXIST
	case h.dead[dir]:
		return deadErr
	}
	delete(h.dir(dir).names, base)
	before := h.id(dir)
	err = c.mutate(func() error { return h.srv.link(file, dir, base) })
	if err == errCut || err == ErrCrashed {
		return err
	}
	if n, gerr := h.srv.get(file); gerr == nil && (err == nil || h.srv.cfg.Version == V3) {
		h.store(file, h.srv.attr(n))
	}
	if err == nil {
		h.own(dir, before)
	}
	return err
}

// Rename implements fsys.FS.
func (h *Host) Rename(oldname, newname string) error {
	if err := local(newname); err != nil {
		return linkErr("rename", oldname, newname, err)
	}
	return linkErr("rename", oldname, newname, h.rename("rename", oldname, newname, h.at(newname)))
}

func (h *Host) rename(op, oldname, newname string, to place) error {
	if err := local(oldname); err != nil {
		return err
	}
	return h.do(op, newname, func(c *call) error {
		return h.steady(func() error { return h.renameOnce(c, oldname, to) }, oldname, newname)
	})
}

func (h *Host) renameOnce(c *call, oldname string, to place) error {
	from, old, err := h.walk(oldname)
	if err != nil {
		return err
	}
	dir, base, err := to()
	switch {
	case err != nil:
		return err
	case old == "." || base == ".":
		return syscall.EBUSY
	case h.dead[dir]:
		return deadErr
	}
	file, err := h.lookup(from, old)
	if err != nil {
		return err
	}
	victim, err := h.lookup(dir, base)
	if err != nil && err != syscall.ENOENT {
		return err
	}
	if err == nil && victim == file {
		return nil
	}
	if err == nil && h.inUse(victim) {
		c.retry = true // two calls to the server, and others may come between
		return h.sillyRename(c, dir, base, victim)
	}
	b1, b2 := h.id(from), h.id(dir)
	err = c.mutate(func() error { return h.srv.rename(from, old, dir, base) })
	if err != nil {
		return err
	}
	if a := h.attrs[victim]; a != nil {
		h.dead[victim] = a.info.Mode.IsDir()
		delete(h.attrs, victim)
	}
	h.own(from, b1)
	if dir != from {
		h.own(dir, b2)
	}
	h.dir(from).learn(old, handle{})
	h.dir(dir).learn(base, file)
	return nil
}

// Remove implements fsys.FS.
func (h *Host) Remove(name string) error {
	return h.byPath("remove", name, func(c *call) error {
		if name == "." {
			return syscall.EINVAL
		}
		dir, base, err := h.walk(name)
		if err != nil {
			return err
		}
		file, err := h.lookup(dir, base)
		if err != nil {
			return err
		}
		a, err := h.attr(file)
		if err != nil {
			return err
		}
		if h.inUse(file) {
			return h.sillyRename(c, dir, base, file)
		}
		before := h.id(dir)
		folder := a.info.Mode.IsDir()
		err = c.mutate(func() error { return h.srv.remove(dir, base, folder) })
		if err != nil {
			return err
		}
		h.dead[file] = folder
		delete(h.attrs, file)
		h.own(dir, before)
		h.dir(dir).learn(base, handle{})
		return nil
	})
}

// Mkdir implements fsys.FS.
func (h *Host) Mkdir(name string, perm fs.FileMode) error {
	return h.byPath("mkdir", name, func(c *call) error {
		dir, base, err := h.walk(name)
		switch {
		case err != nil:
			return err
		case base == ".":
			return syscall.EEXIST
		}
		delete(h.dir(dir).names, base)
		before := h.id(dir)
		if err := c.mutate(func() error { return h.srv.mkdir(dir, base, perm) }); err != nil {
			return err
		}
		h.own(dir, before)
		return nil
	})
}

// Stat implements fsys.FS.
func (h *Host) Stat(name string) (info fsys.Info, err error) {
	err = h.byPath("stat", name, func(*call) error {
		f, err := h.find(name)
		if err != nil {
			return err
		}
		info, err = h.info(f, path.Base(name))
		return err
	})
	return info, err
}

// info is a file's attributes as this host believes them.
func (h *Host) info(f handle, base string) (fsys.Info, error) {
	a, err := h.attr(f)
	if err != nil {
		return fsys.Info{}, err
	}
	a.info.Name = base
	a.info.Size = max(a.info.Size, h.dirtyEnd(f))
	return a.info, nil
}

// Touch implements fsys.FS.
func (h *Host) Touch(name string) error { return h.setMtime("touch", name, time.Time{}) }

// SetMtime implements fsys.FS.
func (h *Host) SetMtime(name string, t time.Time) error { return h.setMtime("setmtime", name, t) }

func (h *Host) setMtime(op, name string, t time.Time) error {
	return h.byPath(op, name, func(c *call) error {
		f, err := h.find(name)
		if err != nil {
			return err
		}
		return h.setTimes(c, f, t)
	})
}

// setTimes is SETATTR, whose answer carries the attributes. What the host has
// written is sent before.
func (h *Host) setTimes(c *call, f handle, t time.Time) error {
	if err := h.flush(c, f); err != nil {
		return err
	}
	if err := c.mutate(func() error { return h.srv.setMtime(f, t) }); err != nil {
		return err
	}
	h.dir(f).listed = false
	_, err := h.getattr(f)
	return err
}

// ReadDir implements fsys.FS.
func (h *Host) ReadDir(name string) (list []fsys.DirEntry, err error) {
	err = h.byPath("readdir", name, func(*call) error {
		d, err := h.find(name)
		if err != nil {
			return err
		}
		list, err = h.list(d)
		return err
	})
	return list, err
}
