package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"qrunner/lists"
)

// Exists says whether there is such a list. "No" is certain, after a fresh look; a
// list whose deletion has only just begun may still be a "yes".
func (s *Store) Exists(ctx context.Context, id lists.ID) (bool, error) {
	_, err := s.current(ctx, id)
	if errors.Is(err, lists.ErrNoList) {
		return false, nil
	}
	return err == nil, err
}

// Lists names every list, by a fresh listing, in order. lists.Site is not among them. A
// list whose files are damaged is: it hides no other, and whoever reads it is told.
func (s *Store) Lists(ctx context.Context) ([]lists.ID, error) {
	names, err := s.folders(true)
	if err != nil {
		return nil, err
	}
	live := make([]bool, len(names))
	grp, ctx := errgroup.WithContext(ctx)
	grp.SetLimit(readers)
	for i, id := range names {
		grp.Go(func() error {
			g, err := s.newest(ctx, id)
			_, damaged := errors.AsType[*CorruptError](err)
			live[i] = g.Incarnation != "" || damaged || errors.Is(err, ErrNewer)
			if live[i] {
				err = nil
			}
			return err
		})
	}
	if err := grp.Wait(); err != nil {
		return nil, fmt.Errorf("list lists: %w", err)
	}
	var out []lists.ID
	for i, id := range names {
		if live[i] && isID(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// folders are the lists that have a folder, in order. It must be there: site.Init
// makes it.
func (s *Store) folders(touch bool) ([]lists.ID, error) {
	list, err := listDir(s.FS, root, touch)
	if err != nil {
		return nil, fmt.Errorf("list lists: %w", err)
	}
	out := make([]lists.ID, 0, len(list))
	for _, e := range list {
		if id := lists.ID(e.Name); id == lists.Site || strings.IndexByte(e.Name, '@') > 0 {
			out = append(out, id)
		}
	}
	return out, nil
}

func isID(id lists.ID) bool {
	got, err := lists.ParseID(string(id))
	return err == nil && got == id
}

// has looks an ID up in what folders gave.
func has(ids []lists.ID, id lists.ID) bool {
	_, ok := slices.BinarySearch(ids, id)
	return ok
}

// hasDomain reports whether a list of that domain has a folder.
func hasDomain(ids []lists.ID, domain string) bool {
	return slices.ContainsFunc(ids, func(id lists.ID) bool { return id != lists.Site && id.Domain() == domain })
}
