package simfs

import (
	"path"
	"strings"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

// What a client remembers, after Linux fs/nfs/{inode,dir}.c. Everything here runs
// under the server's mutex; a host touches its own caches only.

// cachedAttr is the last known attributes of a file.
type cachedAttr struct {
	attr
	at, ttl time.Duration // when asked for, and how long they are believed
}

// cachedDir is what is known of the names in a folder.
type cachedDir struct {
	epoch  uint64 // grows when the client sees that others changed the folder
	names  map[string]dentry
	list   []fsys.DirEntry
	listID changeID
	listed bool
}

// dentry is a looked-up name; a zero file means that it was not there. It is
// believed while the folder's epoch stays.
type dentry struct {
	file  handle
	epoch uint64
}

type cachedPages struct {
	data []byte
	id   changeID
}

func (h *Host) now() time.Duration { return time.Since(h.srv.start) }

func (h *Host) dir(d handle) *cachedDir {
	c := h.dirs[d]
	if c == nil {
		c = &cachedDir{names: map[string]dentry{}}
		h.dirs[d] = c
	}
	return c
}

func (c *cachedDir) learn(name string, file handle) { c.names[name] = dentry{file, c.epoch} }

// store takes in attributes that the server sent.
func (h *Host) store(f handle, a attr) {
	lo, hi := h.srv.cfg.AttrMin, h.srv.cfg.AttrMax
	if a.info.Mode.IsDir() {
		lo, hi = h.srv.cfg.DirMin, h.srv.cfg.DirMax
	}
	ttl, old := lo, h.attrs[f]
	switch {
	case old != nil && old.id == a.id:
		ttl = min(2*old.ttl, hi)
	case a.info.Mode.IsDir():
		h.dir(f).epoch++
	}
	h.attrs[f] = &cachedAttr{attr: a, at: h.now(), ttl: ttl}
}

// getattr asks the server.
func (h *Host) getattr(f handle) (attr, error) {
	if err := h.ask(); err != nil {
		return attr{}, err
	}
	n, err := h.srv.get(f)
	if err != nil {
		delete(h.attrs, f)
		return attr{}, err
	}
	h.store(f, h.srv.attr(n))
	return h.attrs[f].attr, nil
}

// attr believes the cache while it is young enough.
func (h *Host) attr(f handle) (attr, error) {
	if c := h.attrs[f]; c != nil && !h.raw && !h.srv.cfg.NoAC && h.now()-c.at < c.ttl {
		return c.attr, nil
	}
	return h.getattr(f)
}

// own takes in the attributes of a folder that this host has just changed. before is
// what they were before the change: if the cache had known that, the client takes
// its own change for the only one.
func (h *Host) own(d handle, before changeID) {
	n, err := h.srv.get(d)
	if err != nil {
		delete(h.attrs, d)
		return
	}
	c := h.dir(d)
	c.listed = false
	a := h.srv.attr(n)
	if old := h.attrs[d]; old != nil && old.id == before {
		old.id, old.info = a.id, a.info
	}
	h.store(d, a)
}

func (h *Host) id(d handle) changeID {
	if n, err := h.srv.get(d); err == nil {
		return h.srv.attr(n).id
	}
	return changeID{}
}

// lookup finds a name in a folder, in the cache if that may be believed.
func (h *Host) lookup(d handle, name string) (handle, error) {
	a, err := h.attr(d)
	switch {
	case err != nil:
		return handle{}, err
	case !a.info.Mode.IsDir():
		return handle{}, syscall.ENOTDIR
	}
	c := h.dir(d)
	if e, ok := c.names[name]; ok && e.epoch == c.epoch && !h.raw && !h.srv.cfg.LookupCacheNone {
		if e.file == (handle{}) {
			return handle{}, syscall.ENOENT
		}
		return e.file, nil
	}
	return h.lookupFresh(d, name)
}

// lookupFresh asks the server for the name.
func (h *Host) lookupFresh(d handle, name string) (handle, error) {
	if err := h.ask(); err != nil {
		return handle{}, err
	}
	n, err := h.srv.lookup(d, name)
	switch err {
	case nil:
		h.store(n.handle, h.srv.attr(n))
		h.dir(d).learn(name, n.handle)
		return n.handle, nil
	case syscall.ENOENT:
		h.dir(d).learn(name, handle{})
	}
	return handle{}, err
}

// walk finds the folder that name is in; base is "." for the root itself.
func (h *Host) walk(name string) (dir handle, base string, err error) {
	dir = h.srv.root.handle
	base = name
	for {
		first, rest, more := strings.Cut(base, "/")
		if !more {
			return dir, base, nil
		}
		if dir, err = h.lookup(dir, first); err != nil {
			return dir, "", err
		}
		if n, err := h.srv.get(dir); err == nil && !n.isDir() { // known from the handle
			return dir, "", syscall.ENOTDIR
		}
		base = rest
	}
}

// find finds the file under name.
func (h *Host) find(name string) (handle, error) {
	if name == "." {
		return h.srv.root.handle, nil
	}
	d, base, err := h.walk(name)
	if err != nil {
		return handle{}, err
	}
	return h.lookup(d, base)
}

// forget drops what is believed about the names in a path.
func (h *Host) forget(name string) {
	d := h.srv.root.handle
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		c := h.dir(d)
		e := c.names[part]
		delete(c.names, part)
		delete(h.attrs, d)
		d = e.file
	}
}

// steady runs f, and after ESTALE once more with every name looked up afresh, as
// the kernel does for calls that name a path.
func (h *Host) steady(f func() error, names ...string) error {
	err := f()
	if err != syscall.ESTALE {
		return err
	}
	for _, name := range names {
		h.forget(name)
	}
	return f()
}
