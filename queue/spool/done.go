package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"qrunner/lists/store"
)

// done is what a holder has carried out and not yet told the log.
type done struct {
	entries []string // of hand-overs that are to be closed
	// dirty are the folders that the entries were removed from. They are synced
	// before the log says "done": or else a power cut could bring an entry back
	// whose hand-over is closed.
	dirty []string
}

// carriedOut notes that hand-overs are done.
func (s *Spool) carriedOut(h *store.Holder, list []store.Handover) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.done[h]
	if d == nil {
		d = &done{}
		s.done[h] = d
	}
	for _, ho := range list {
		d.entries = append(d.entries, ho.Entry)
		dir := path.Dir(source(ho))
		if hasSource(ho) && !slices.Contains(d.dirty, dir) {
			d.dirty = append(d.dirty, dir)
		}
	}
}

// doneMarks returns the changes that close what was carried out, after making sure
// that it cannot come undone.
func (s *Spool) doneMarks(h *store.Holder) ([]store.Change, error) {
	s.mu.Lock()
	d := done{}
	if p := s.done[h]; p != nil {
		d = done{entries: slices.Clone(p.entries), dirty: slices.Clone(p.dirty)}
	}
	s.mu.Unlock()
	for _, dir := range d.dirty {
		if err := syncGone(s.c.FS, dir); err != nil {
			return nil, err
		}
	}
	var out []store.Change
	for _, e := range d.entries {
		out = append(out, store.CloseHandover{Entry: e})
	}
	return out, nil
}

// told notes that the log has the first n marks.
func (s *Spool) told(h *store.Holder, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.done[h]; d != nil {
		if d.entries = d.entries[n:]; len(d.entries) == 0 {
			delete(s.done, h)
		}
	}
}

// Tell commits the done marks that are outstanding, for a holder that may leave no
// hand-over open: one that deletes the list.
func (s *Spool) Tell(ctx context.Context, h *store.Holder, by store.By) error {
	marks, err := s.doneMarks(h)
	if err == nil && len(marks) > 0 {
		err = h.Commit(ctx, by, marks...)
	}
	if err != nil {
		return fmt.Errorf("tell what is done on list %s: %w", h.ID(), err)
	}
	s.told(h, len(marks))
	return nil
}

// isDone reports whether the hand-over of an entry is carried out though still open.
func (s *Spool) isDone(h *store.Holder, entry string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.done[h]
	return d != nil && slices.Contains(d.entries, entry)
}

// Release gives the lease back, with the done marks that are outstanding and extra.
// Without the marks, which is what an error may mean, the next holder looks at
// those hand-overs again and finds nothing to do.
func (s *Spool) Release(ctx context.Context, h *store.Holder, extra ...store.Change) error {
	marks, err := s.doneMarks(h)
	rerr := h.Release(ctx, append(marks, extra...)...)
	s.mu.Lock()
	delete(s.done, h)
	s.mu.Unlock()
	if err = errors.Join(err, rerr); err != nil {
		return fmt.Errorf("release list %s: %w", h.ID(), err)
	}
	return nil
}
