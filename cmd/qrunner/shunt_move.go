package main

import (
	"context"
	"fmt"
	"path"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/spool"
)

// moveShunted carries a shunt command out. Entries go as one hand-over in the log of
// their list (or of the site, where the list is gone); fan-outs, which are folders,
// have marks of their own.
func (a *app) moveShunted(ctx context.Context, h *house, s shunted) (n int, err error) {
	list, ids, err := s.parse()
	if err != nil {
		return 0, &usageError{err}
	}
	holder := list
	if ok, err := h.store.Exists(ctx, list); err != nil {
		return 0, fmt.Errorf("look for list %s: %w", list, err)
	} else if !ok && s.replay {
		return 0, fmt.Errorf("%s: %w (make it again before the replay)", list, lists.ErrNoList)
	} else if !ok {
		holder = lists.Site
	}
	var entries []queue.ID
	for _, id := range ids {
		st, err := h.fs.Stat(path.Join(spool.Dir(queue.Shunt, list), string(id)))
		if err != nil {
			return n, fmt.Errorf("find shunted entry: %w", err)
		}
		if !st.Mode.IsDir() {
			entries = append(entries, id)
			continue
		}
		if err := h.moveFanout(list, id, s.replay); err != nil {
			return n, err
		}
		n++
	}
	err = a.with(ctx, string(holder), "shunt", func(h *house, l *store.Holder) error {
		return h.moveEntries(ctx, l, list, entries, s)
	})
	return n + len(entries), err
}

func (s shunted) parse() (lists.ID, []queue.ID, error) {
	list, err := parseList(s.list)
	if err != nil {
		return "", nil, err
	}
	var ids []queue.ID
	for _, text := range s.ids {
		id, err := queue.ParseID(text)
		if err != nil {
			return "", nil, err
		}
		ids = append(ids, id)
	}
	return list, ids, nil
}

// moveFanout lets a parked fan-out go on where it stopped, or removes it.
func (h *house) moveFanout(list lists.ID, id queue.ID, replay bool) error {
	if replay {
		if err := fanout.Reopen(h.fs, list, id); err != nil {
			return fmt.Errorf("replay fan-out %s: %w", id, err)
		}
		return nil
	}
	// Out of sight first, so that nobody meets half of it.
	gone := path.Join("queue", "tmp", "dropped."+string(id))
	if err := h.fs.Rename(path.Join(spool.Dir(queue.Shunt, list), string(id)), gone); err != nil {
		return fmt.Errorf("drop fan-out %s: %w", id, err)
	}
	files, err := h.fs.ReadDir(gone)
	if err != nil {
		return fmt.Errorf("drop fan-out %s: %w", id, err)
	}
	for _, f := range files {
		if err := fsys.RemoveAny(h.fs, path.Join(gone, f.Name)); err != nil {
			return fmt.Errorf("drop fan-out %s: %w", id, err)
		}
	}
	return h.fs.Remove(gone)
}

func (h *house) moveEntries(ctx context.Context, l *store.Holder, list lists.ID, ids []queue.ID, s shunted) error {
	if len(ids) == 0 {
		return nil
	}
	if err := h.spool.Recover(ctx, l); err != nil {
		return err
	}
	attempt := h.spool.NewAttempt(l)
	for _, id := range ids {
		e, err := h.spool.Load(ctx, queue.Shunt, list, id)
		if err != nil {
			return fmt.Errorf("load shunted entry: %w", err)
		}
		if s.replay {
			_, err = attempt.AddMove(ctx, e, e.Meta.From)
		} else {
			err = attempt.Add(ctx, e, &queue.Outcome{Event: "dropped", Reason: "dropped by " + actor()})
		}
		if err != nil {
			return fmt.Errorf("shunted entry %s: %w", id, err)
		}
	}
	return attempt.Commit(ctx, by("shunt "+s.verb))
}
