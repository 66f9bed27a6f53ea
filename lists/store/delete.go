package store

import (
	"context"
	"errors"
	"fmt"
	"path"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// Delete ends a list: see Holder.Delete.
func (s *Store) Delete(ctx context.Context, id lists.ID, by By) error {
	h, err := s.Lock(ctx, id, "delete")
	if err != nil {
		return err
	}
	err = h.Delete(ctx, by)
	if rerr := h.Release(ctx); err == nil {
		err = rerr
	}
	return err
}

// Delete ends the list. The final record is committed first, so that whoever holds
// or reads the list learns of it; then its generation is closed, and log, snapshots
// and roster are removed. Files under held/, digest/ and archive/ are the caller's.
// ErrUnfinished while there are open hand-overs or held posts. Afterwards only
// Release is of use.
func (h *Holder) Delete(ctx context.Context, by By) error {
	if n, m := h.state.handovers.len(), h.state.held.len(); n+m > 0 {
		return fmt.Errorf("delete list %s: %d open hand-overs, %d held posts: %w", h.id, n, m, ErrUnfinished)
	}
	err := h.commit(ctx, KindDelete, by, nil)
	if err != nil && !(errors.Is(err, ErrUnknown) && errors.Is(err, lists.ErrNoList)) {
		return err
	}
	h.broken = noListError(h.id)
	if err := h.s.bury(h.gen); err != nil {
		return fmt.Errorf("delete list %s: final record is in the log, but: %w", h.id, err)
	}
	h.s.cache.forget(h.id)
	h.s.drop(h.last)
	h.last = ""
	h.s.raze(h.gen.dir())
	return nil
}

// raze removes an incarnation that does not count any more, records in ascending
// order: a sleeper whose link still succeeds finds that its record before is gone.
// What cannot be removed stays; nothing reads it.
func (s *Store) raze(dir folder) {
	for _, name := range dir.all() {
		list, err := listDir(s.FS, name, true)
		if err != nil {
			continue
		}
		for _, e := range list {
			if err := fsys.RemoveAny(s.FS, path.Join(name, e.Name)); err != nil {
				break
			}
		}
		_ = s.FS.Remove(name)
	}
	_ = s.FS.Remove(string(dir))
}
