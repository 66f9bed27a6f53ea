package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/queue"
)

// Repair carries out the remedy of a finding that was made anew while h holds its list
// (or, where that is not there, the site's). A copy is the caller's to make before. It
// returns where the file lies now, from the share's root; "" where it is no more.
func (s *Spool) Repair(ctx context.Context, h *store.Holder, f store.Finding, by store.By) (moved string, err error) {
	switch f.Remedy {
	case store.Remove:
		err = removeTree(s.c.FS, f.File)
	case store.Unhold:
		err = h.Commit(ctx, by, store.DropHeld{ID: path.Base(f.File)})
	case store.ToBad:
		moved, err = s.toBad(ctx, h, f, by)
	}
	if err != nil {
		return "", fmt.Errorf("repair %s: %w", f.File, err)
	}
	return moved, nil
}

func (s *Spool) toBad(ctx context.Context, h *store.Holder, f store.Finding, by store.By) (string, error) {
	part := strings.Split(f.File, "/")
	if len(part) != 4 || part[0] != root {
		return "", errors.New("not an entry's path")
	}
	a := s.NewAttempt(h)
	id, err := a.AddBad(ctx, queue.Name(part[1]), lists.ID(part[2]), queue.ID(part[3]))
	if err != nil {
		return "", err
	}
	return path.Join(Dir(queue.Bad, lists.ID(part[2])), string(id)), a.Commit(ctx, by)
}
