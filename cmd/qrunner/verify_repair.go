package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
)

// verify looks, and repairs if asked to: list by list, under the list's lock, what is
// found again there.
func (a *app) verify(ctx context.Context, h *house, look func(context.Context) ([]store.Finding, error), repair bool) ([]verifyRow, error) {
	found, err := look(ctx)
	rows := make([]verifyRow, len(found))
	var of []lists.ID
	for i, f := range found {
		rows[i] = verifyRow{Finding: f}
		if f.Remedy != "" && !slices.Contains(of, f.List) {
			of = append(of, f.List)
		}
	}
	if err != nil || !repair {
		return rows, err
	}
	backup := path.Join("backup", time.Now().UTC().Format("20060102T150405Z")+"."+h.host.Host)
	var errs []error
	for _, id := range of {
		errs = append(errs, a.repairList(ctx, id, look, rows, backup))
	}
	return rows, errors.Join(errs...)
}

// repairList mends the rows of one list.
func (a *app) repairList(ctx context.Context, id lists.ID, look func(context.Context) ([]store.Finding, error), rows []verifyRow, backup string) error {
	holder, err := a.house.holderOf(ctx, id)
	if err != nil {
		return err
	}
	return a.with(ctx, string(holder), "verify", func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return err
		}
		again, err := look(ctx)
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i]
			if r.List != id || r.Remedy == "" {
				continue
			}
			if !slices.ContainsFunc(again, func(f store.Finding) bool { return f.File == r.File && f.Kind == r.Kind }) {
				r.Repaired = true // by somebody else
				continue
			}
			if r.Kind != store.Missing {
				r.Backup = path.Join(backup, r.File)
				if err := h.putAside(r.File, r.Backup); err != nil {
					return fmt.Errorf("copy %s: %w", r.File, err)
				}
			}
			if r.Moved, err = h.spool.Repair(ctx, l, r.Finding, by("verify --repair: "+r.Text)); err != nil {
				return err
			}
			r.Repaired = true
		}
		return nil
	})
}

// holderOf is whose lock a repair takes: the list's, or the site's where there is none.
func (h *house) holderOf(ctx context.Context, id lists.ID) (lists.ID, error) {
	if id == "" {
		return lists.Site, nil
	}
	ok, err := h.store.Exists(ctx, id)
	if err == nil && !ok {
		id = lists.Site
	}
	return id, err
}

// putAside copies a file, or a folder with what is in it, onto stable storage.
func (h *house) putAside(from, to string) error {
	if err := fsys.MkdirAll(h.fs, path.Dir(to)); err != nil {
		return err
	}
	st, err := h.fs.Stat(from)
	if err != nil {
		return err
	}
	if st.Mode.IsDir() {
		return h.putFolderAside(from, to)
	}
	data, err := fsys.ReadFile(h.fs, from, st.Size)
	if err != nil {
		return err
	}
	err = fsys.WriteNew(h.fs, to, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return fsys.SyncDir(h.fs, path.Dir(to))
}

func (h *house) putFolderAside(from, to string) error {
	if err := fsys.MkdirAll(h.fs, to); err != nil {
		return err
	}
	list, err := h.fs.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := h.putAside(path.Join(from, e.Name), path.Join(to, e.Name)); err != nil {
			return err
		}
	}
	return fsys.SyncDir(h.fs, to)
}
