package fsys

import (
	"io/fs"
	"time"
)

// Hook is told of every call on an observed FS. Before may return an error, which
// is then the call's answer and the call is not made; After may replace the
// answer of a call that was made (a lost reply). Both get op ("open", "opendir",
// "link", "rename", "remove", "mkdir", "stat", "touch", "setmtime", "readdir",
// "write", "sync", "syncdir", "dirlink", "dirrename", "dirreaddir", "dirtouch",
// "truncate") and the name that the call is about (for link and rename: the new
// name). Either may be nil.
type Hook struct {
	Before func(op, name string) error
	After  func(op, name string, err error) error
}

// Observed returns f with every call shown to h: for counting, for timing, and for
// putting faults in.
func Observed(f FS, h Hook) FS { return &observed{f, h} }

type observed struct {
	fs FS
	h  Hook
}

func (h Hook) call(op, name string, f func() error) error {
	if h.Before != nil {
		if err := h.Before(op, name); err != nil {
			return pathErr(op, name, err)
		}
	}
	err := f()
	if h.After != nil {
		return h.After(op, name, err)
	}
	return err
}

func (o *observed) OpenFile(name string, flag int, perm fs.FileMode) (out File, err error) {
	err = o.h.call("open", name, func() (err error) {
		out, err = o.fs.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		if out != nil {
			_ = out.Close()
		}
		return nil, err
	}
	return &observedFile{out, o.h, name}, nil
}

func (o *observed) OpenDir(name string) (out Dir, err error) {
	err = o.h.call("opendir", name, func() (err error) {
		out, err = o.fs.OpenDir(name)
		return err
	})
	if err != nil {
		if out != nil {
			_ = out.Close()
		}
		return nil, err
	}
	return &observedDir{out, o.h, name}, nil
}

func (o *observed) Link(oldname, newname string) error {
	return o.h.call("link", newname, func() error { return o.fs.Link(oldname, newname) })
}

func (o *observed) Rename(oldname, newname string) error {
	return o.h.call("rename", newname, func() error { return o.fs.Rename(oldname, newname) })
}

func (o *observed) Remove(name string) error {
	return o.h.call("remove", name, func() error { return o.fs.Remove(name) })
}

func (o *observed) Mkdir(name string, perm fs.FileMode) error {
	return o.h.call("mkdir", name, func() error { return o.fs.Mkdir(name, perm) })
}

func (o *observed) Stat(name string) (out Info, err error) {
	err = o.h.call("stat", name, func() (err error) {
		out, err = o.fs.Stat(name)
		return err
	})
	return out, err
}

func (o *observed) Touch(name string) error {
	return o.h.call("touch", name, func() error { return o.fs.Touch(name) })
}

func (o *observed) SetMtime(name string, t time.Time) error {
	return o.h.call("setmtime", name, func() error { return o.fs.SetMtime(name, t) })
}

func (o *observed) ReadDir(name string) (out []DirEntry, err error) {
	err = o.h.call("readdir", name, func() (err error) {
		out, err = o.fs.ReadDir(name)
		return err
	})
	return out, err
}

type observedFile struct {
	File
	h    Hook
	name string
}

func (f *observedFile) Write(p []byte) (n int, err error) {
	err = f.h.call("write", f.name, func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *observedFile) Sync() error {
	return f.h.call("sync", f.name, f.File.Sync)
}

func (f *observedFile) Truncate(size int64) error {
	return f.h.call("truncate", f.name, func() error { return f.File.Truncate(size) })
}

type observedDir struct {
	Dir
	h    Hook
	name string
}

func (d *observedDir) Link(oldname, newname string) error {
	return d.h.call("dirlink", d.name+"/"+newname, func() error { return d.Dir.Link(oldname, newname) })
}

func (d *observedDir) Rename(oldname, newname string) error {
	return d.h.call("dirrename", d.name+"/"+newname, func() error { return d.Dir.Rename(oldname, newname) })
}

func (d *observedDir) ReadDir() (out []DirEntry, err error) {
	err = d.h.call("dirreaddir", d.name, func() (err error) {
		out, err = d.Dir.ReadDir()
		return err
	})
	return out, err
}

func (d *observedDir) Touch() error { return d.h.call("dirtouch", d.name, d.Dir.Touch) }
func (d *observedDir) Sync() error  { return d.h.call("syncdir", d.name, d.Dir.Sync) }
