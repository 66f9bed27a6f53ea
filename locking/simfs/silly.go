package simfs

import (
	"fmt"
	"slices"

	"qrunner/locking/fsys"
)

// sillyPlace is where a file that was unlinked while open was put.
type sillyPlace struct {
	dir  handle
	name string
}

// inUse reports whether taking away a name of f would take the file from under a
// descriptor of this host, which the client prevents by renaming it.
func (h *Host) inUse(f handle) bool {
	_, done := h.sillies[f]
	return h.open[f] > 0 && !done && !h.srv.cfg.Local && !h.raw
}

// sillyRename puts the file that base names aside, as .nfs and a number; it goes
// with the last close, or stays if the host dies first.
func (h *Host) sillyRename(c *call, dir handle, base string, f handle) error {
	h.srv.silly++
	name := fmt.Sprintf(".nfs%016x%08x", f.ino, h.srv.silly)
	before := h.id(dir)
	if err := c.mutate(func() error { return h.srv.rename(dir, base, dir, name) }); err != nil {
		c.retry = false
		return err
	}
	h.sillies[f] = sillyPlace{dir, name}
	h.own(dir, before)
	h.dir(dir).learn(base, handle{})
	h.dir(dir).learn(name, f)
	return nil
}

// list is opendir and readdir: the folder's attributes are asked for, and if they
// look unchanged the cached listing is given.
func (h *Host) list(d handle) ([]fsys.DirEntry, error) {
	if h.dead[d] {
		return nil, deadErr
	}
	a, err := h.getattr(d)
	if err != nil {
		return nil, err
	}
	c := h.dir(d)
	if !c.listed || c.listID != a.id || h.raw || h.srv.cfg.Local {
		n, err := h.srv.folder(d)
		if err != nil {
			return nil, err
		}
		c.list, c.listID, c.listed = n.list(), a.id, true
	}
	return slices.Clone(c.list), nil
}
