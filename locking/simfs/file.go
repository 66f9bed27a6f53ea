package simfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"qrunner/locking/fsys"
)

const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

// OpenFile implements fsys.FS. O_EXCL goes to the server; a name that the cache
// knows is opened as the file that it was, whose attributes are asked for.
func (h *Host) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	var out *file
	err := h.byPath("open", name, func(c *call) error {
		f, err := h.openOnce(c, name, flag, perm)
		if err != nil {
			return err
		}
		out = &file{host: h, handle: f, name: name, flag: flag}
		h.open[f]++
		h.srv.opened(f)
		return nil
	})
	if err != nil {
		if out != nil {
			h.srv.mu.Lock()
			h.shut(out.handle)
			h.srv.mu.Unlock()
		}
		return nil, err
	}
	return out, nil
}

func (h *Host) openOnce(c *call, name string, flag int, perm fs.FileMode) (handle, error) {
	dir, base, err := h.walk(name)
	if err != nil {
		return handle{}, err
	}
	if base == "." {
		return dir, opensFolder(flag)
	}
	if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		return h.create(c, dir, base, perm, true)
	}
	f, err := h.lookup(dir, base)
	if err == syscall.ENOENT && flag&os.O_CREATE != 0 {
		f, err = h.create(c, dir, base, perm, false)
	}
	if err != nil {
		return handle{}, err
	}
	a, err := h.getattr(f) // close-to-open
	if err != nil {
		return handle{}, err
	}
	if a.info.Mode.IsDir() {
		return f, opensFolder(flag)
	}
	if flag&os.O_TRUNC != 0 && a.info.Size+h.dirtyEnd(f) > 0 {
		err = h.truncate(c, f, 0)
	}
	return f, err
}

func opensFolder(flag int) error {
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return syscall.EEXIST
	case flag&accessMode != os.O_RDONLY || flag&(os.O_CREATE|os.O_TRUNC) != 0:
		return syscall.EISDIR
	}
	return nil
}

func (h *Host) create(c *call, dir handle, base string, perm fs.FileMode, excl bool) (handle, error) {
	delete(h.dir(dir).names, base)
	before := h.id(dir)
	var made *inode // doubles as the verifier that makes a retransmission harmless
	err := c.mutate(func() error {
		if made != nil {
			return nil
		}
		n, err := h.srv.create(dir, base, perm, excl)
		if err == nil {
			made = n
		}
		return err
	})
	if err != nil || made == nil {
		return handle{}, err
	}
	h.own(dir, before)
	h.store(made.handle, h.srv.attr(made))
	h.dir(dir).learn(base, made.handle)
	return made.handle, nil
}

// shut counts a descriptor off.
func (h *Host) shut(f handle) {
	if h.crashed {
		return
	}
	if h.open[f]--; h.open[f] <= 0 {
		delete(h.open, f)
	}
	h.srv.closed(f, 1)
}

// file is an open file.
type file struct {
	host   *Host
	handle handle
	name   string
	flag   int
	off    int64
	closed bool
}

func (f *file) check(op string, want ...int) error {
	if f.closed {
		return pathErr(op, f.name, fs.ErrClosed)
	}
	for _, m := range want {
		if f.flag&accessMode == m {
			return nil
		}
	}
	if len(want) > 0 {
		return pathErr(op, f.name, syscall.EBADF)
	}
	return nil
}

// Read implements fsys.File.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.readAt(p, f.off)
	f.off += int64(n)
	return n, err
}

// ReadAt implements fsys.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.readAt(p, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *file) readAt(p []byte, off int64) (n int, err error) {
	if err := f.check("read", os.O_RDONLY, os.O_RDWR); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathErr("readat", f.name, syscall.EINVAL)
	}
	err = f.host.doLocal("read", f.name, func(*call) error {
		data, err := f.host.content(f.handle)
		if err == nil && off < int64(len(data)) {
			n = copy(p, data[off:])
		}
		return err
	})
	if err != nil {
		return 0, pathErr("read", f.name, err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write implements fsys.File. The bytes stay on the host until they are flushed.
func (f *file) Write(p []byte) (int, error) {
	if err := f.check("write", os.O_WRONLY, os.O_RDWR); err != nil {
		return 0, err
	}
	err := f.host.doLocal("write", f.name, func(*call) error {
		if f.flag&os.O_APPEND != 0 {
			info, err := f.host.info(f.handle, "")
			if err != nil {
				return err
			}
			f.off = info.Size
		}
		f.host.buffer(f.handle, extent{f.off, append([]byte(nil), p...)})
		f.off += int64(len(p))
		return nil
	})
	if err != nil {
		return 0, pathErr("write", f.name, err)
	}
	return len(p), nil
}

// Sync implements fsys.File.
func (f *file) Sync() error {
	if err := f.check("sync"); err != nil {
		return err
	}
	return pathErr("sync", f.name, f.host.do("sync", f.name, func(c *call) error {
		if err := f.host.flush(c, f.handle); err != nil {
			return err
		}
		return c.mutate(func() error { return f.host.srv.commit(f.handle) })
	}))
}

// Stat implements fsys.File.
func (f *file) Stat() (info fsys.Info, err error) {
	if err := f.check("stat"); err != nil {
		return info, err
	}
	err = f.host.do("fstat", f.name, func(*call) error {
		info, err = f.host.info(f.handle, path.Base(f.name))
		return err
	})
	return info, pathErr("stat", f.name, err)
}

// Truncate implements fsys.File.
func (f *file) Truncate(size int64) error {
	if err := f.check("truncate"); err != nil {
		return err
	}
	if size < 0 || f.flag&accessMode == os.O_RDONLY {
		return pathErr("truncate", f.name, syscall.EINVAL)
	}
	return pathErr("truncate", f.name, f.host.do("truncate", f.name, func(c *call) error {
		return f.host.truncate(c, f.handle, size)
	}))
}

// Chmod implements fsys.File.
func (f *file) Chmod(mode fs.FileMode) error {
	if err := f.check("chmod"); err != nil {
		return err
	}
	return pathErr("chmod", f.name, f.host.do("chmod", f.name, func(c *call) error {
		err := c.mutate(func() error {
			n, err := f.host.srv.get(f.handle)
			if err != nil {
				return err
			}
			n.mode = n.mode.Type() | mode.Perm() | mode&fs.ModeSetgid
			f.host.srv.turn(n)
			return nil
		})
		if err == nil {
			_, err = f.host.getattr(f.handle)
		}
		return err
	}))
}

// Close implements fsys.File. It is a call only if the server has to hear of it.
func (f *file) Close() error {
	if err := f.check("close"); err != nil {
		return err
	}
	f.closed = true
	if f.host.shutQuietly(f.handle) {
		return nil
	}
	err := f.host.do("close", f.name, func(c *call) error { return f.host.flush(c, f.handle) })
	f.host.srv.mu.Lock()
	place, silly := f.host.lastClose(f.handle)
	f.host.srv.mu.Unlock()
	if silly && err == nil {
		err = f.host.do("remove", place.name, func(c *call) error {
			before := f.host.id(place.dir)
			err := c.mutate(func() error { return f.host.srv.remove(place.dir, place.name, false) })
			f.host.own(place.dir, before)
			return err
		})
		if fsys.Gone(err) {
			err = nil
		}
	}
	return pathErr("close", f.name, err)
}
