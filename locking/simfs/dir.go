package simfs

import (
	"io/fs"
	"strings"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

// OpenDir implements fsys.FS.
func (h *Host) OpenDir(name string) (fsys.Dir, error) {
	var out *dir
	err := h.byPath("opendir", name, func(*call) error {
		d, err := h.find(name)
		if err != nil {
			return err
		}
		a, err := h.getattr(d)
		if err != nil {
			return err
		}
		if !a.info.Mode.IsDir() {
			return syscall.ENOTDIR
		}
		out = &dir{host: h, handle: d, name: name}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// dir is an open folder.
type dir struct {
	host   *Host
	handle handle
	name   string
	closed bool
}

// at is where a name in the folder goes.
func (d *dir) at(name string) place {
	return func() (handle, string, error) {
		switch {
		case d.closed:
			return handle{}, "", syscall.EBADF
		case strings.Contains(name, "/"):
			return handle{}, "", syscall.EINVAL
		}
		return d.handle, name, nil
	}
}

// Link implements fsys.Dir.
func (d *dir) Link(oldname, newname string) error {
	full := d.name + "/" + newname
	return linkErr("link", oldname, full, d.host.link("dirlink", oldname, full, d.at(newname)))
}

// Rename implements fsys.Dir.
func (d *dir) Rename(oldname, newname string) error {
	full := d.name + "/" + newname
	return linkErr("rename", oldname, full, d.host.rename("dirrename", oldname, full, d.at(newname)))
}

// do is a call about the folder itself.
func (d *dir) do(op, verb string, run func(*call) error) error {
	return pathErr(verb, d.name, d.host.do(op, d.name, func(c *call) error {
		if d.closed {
			return syscall.EBADF
		}
		return run(c)
	}))
}

// ReadDir implements fsys.Dir.
func (d *dir) ReadDir() (list []fsys.DirEntry, err error) {
	err = d.do("dirreaddir", "readdir", func(*call) error {
		list, err = d.host.list(d.handle)
		return err
	})
	return list, err
}

// Touch implements fsys.Dir.
func (d *dir) Touch() error {
	return d.do("dirtouch", "touch", func(c *call) error {
		return d.host.setTimes(c, d.handle, time.Time{})
	})
}

// Stat implements fsys.Dir.
func (d *dir) Stat() (info fsys.Info, err error) {
	err = d.do("dirstat", "stat", func(*call) error {
		info, err = d.host.info(d.handle, d.name)
		return err
	})
	return info, err
}

// Sync implements fsys.Dir.
func (d *dir) Sync() error {
	return d.do("syncdir", "sync", func(c *call) error {
		if !d.host.srv.cfg.AsyncExport {
			return nil
		}
		return c.mutate(func() error { return d.host.srv.syncDir(d.handle) })
	})
}

// Close implements fsys.Dir.
func (d *dir) Close() error {
	if d.closed {
		return pathErr("close", d.name, fs.ErrClosed)
	}
	d.closed = true
	return nil
}
