package simfs

import "syscall"

// deadErr is the kernel's own answer for a folder that it removed itself.
const deadErr = syscall.ENOENT

// dirtyEnd is where the bytes that were not sent yet end.
func (h *Host) dirtyEnd(f handle) (end int64) {
	for _, e := range h.dirty[f] {
		end = max(end, e.off+int64(len(e.data)))
	}
	return end
}

func (h *Host) buffer(f handle, e extent) {
	list := h.dirty[f]
	if k := len(list); k > 0 && list[k-1].off+int64(len(list[k-1].data)) == e.off {
		list[k-1].data = append(list[k-1].data, e.data...)
		return
	}
	h.dirty[f] = append(list, e)
}

// content is what a read sees: cached pages as long as the attributes look
// unchanged, and what this host wrote.
func (h *Host) content(f handle) ([]byte, error) {
	a, err := h.attr(f)
	switch {
	case err != nil:
		return nil, err
	case a.info.Mode.IsDir():
		return nil, syscall.EISDIR
	}
	p, ok := h.pages[f]
	if !ok || p.id != a.id {
		if a, err = h.getattr(f); err != nil {
			return nil, err
		}
		n, err := h.srv.get(f)
		if err != nil {
			return nil, err
		}
		p = cachedPages{n.data, a.id}
		h.pages[f] = p
	}
	if d := h.dirty[f]; len(d) > 0 {
		return apply(p.data[:len(p.data):len(p.data)], d), nil
	}
	return p.data, nil
}

// flush sends what was written here.
func (h *Host) flush(c *call, f handle) error {
	list := h.dirty[f]
	if len(list) == 0 {
		return nil
	}
	if err := c.mutate(func() error { return h.srv.write(f, list) }); err != nil {
		if err != errCut {
			delete(h.dirty, f)
		}
		return err
	}
	delete(h.dirty, f)
	delete(h.pages, f)
	_, err := h.getattr(f)
	return err
}

func (h *Host) truncate(c *call, f handle, size int64) error {
	if err := h.flush(c, f); err != nil {
		return err
	}
	if err := c.mutate(func() error { return h.srv.truncate(f, size) }); err != nil {
		return err
	}
	delete(h.pages, f)
	_, err := h.getattr(f)
	return err
}

// shutQuietly closes a descriptor if nobody else can notice, and says so.
func (h *Host) shutQuietly(f handle) bool {
	h.srv.mu.Lock()
	defer h.srv.mu.Unlock()
	_, silly := h.sillies[f]
	n, err := h.srv.get(f)
	last := silly && h.open[f] == 1
	frees := err == nil && n.nlink == 0 && n.opens == 1
	if h.crashed || len(h.dirty[f]) > 0 || last || frees {
		return false
	}
	h.shut(f)
	return true
}

// lastClose closes a descriptor; if it was the last of a file that was put aside,
// it returns where.
func (h *Host) lastClose(f handle) (sillyPlace, bool) {
	h.shut(f)
	p, ok := h.sillies[f]
	if !ok || h.open[f] > 0 {
		return sillyPlace{}, false
	}
	delete(h.sillies, f)
	return p, true
}
