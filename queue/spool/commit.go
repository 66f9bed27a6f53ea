package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"qrunner/lists/store"
	"qrunner/locking/fsys"
)

// Commit makes everything that was added happen: stage synced, ONE fenced commit
// with the hand-overs and the outcomes' changes, children published, sources
// removed. That it is done rides on the next commit or on Release. A nil error
// promises that the children are in their queues, on stable storage.
//
// The attempt is spent, whatever the answer. After an error, and with the lease
// intact, Recover settles what the log says and the folders do not show yet; and
// entries must be listed and loaded again, since with store.ErrFenced somebody else
// may have finished them. After store.ErrUnknown only a new grant helps.
func (a *Attempt) Commit(ctx context.Context, by store.By) error {
	if err := a.commit(ctx, by); err != nil {
		return fmt.Errorf("commit attempt on %s: %w", a.h.ID(), err)
	}
	return nil
}

func (a *Attempt) commit(ctx context.Context, by store.By) error {
	if a.spent {
		return errSpent
	}
	a.spent = true
	if len(a.hand) == 0 {
		return nil
	}
	if err := fsys.SyncDir(a.s.c.FS, path.Join(root, a.stage)); err != nil {
		return err
	}
	marks, err := a.s.doneMarks(a.h)
	if err != nil {
		return err
	}
	changes := append(marks[:len(marks):len(marks)], a.changes...)
	for _, ho := range a.hand {
		changes = append(changes, store.OpenHandover{Handover: ho})
	}
	if err := a.h.Commit(ctx, by, changes...); err != nil {
		return err
	}
	a.s.told(a.h, len(marks))
	// The decision stands. A ctx that ends now must not leave it half done.
	err = a.s.carryOut(context.WithoutCancel(ctx), a.h, a.hand)
	a.dropFiles(ctx)
	return err
}

// dropFiles removes the files that the state names no more since the commit: of held
// posts, of a digest that is sent. One that stays is swept when the list is next
// recovered after an unclean end.
func (a *Attempt) dropFiles(ctx context.Context) {
	var gone []string
	for _, c := range a.changes {
		switch c := c.(type) {
		case store.DropHeld:
			gone = append(gone, listFile(a.h.ID(), heldDir, c.ID))
		case store.DropDigest:
			gone = append(gone, listFile(a.h.ID(), digestDir, c.ID))
		case store.CloseDigest:
			for _, id := range c.Posts {
				gone = append(gone, listFile(a.h.ID(), digestDir, id))
			}
		}
	}
	for _, name := range gone {
		if err := a.s.remove(name); err != nil {
			a.s.c.Log.WarnContext(ctx, "a message stays for now", "list", a.h.ID(), "entry", name, "err", err)
		}
	}
}

// noSource stands in place of a queue in the key of a hand-over without an entry.
const noSource = "none"

func hasSource(ho store.Handover) bool { return !strings.HasPrefix(ho.Entry, noSource+"/") }

// source is the entry's path from the share's root.
func source(ho store.Handover) string { return path.Join(root, ho.Entry) }

// staged is where a child waits, from the share's root.
func staged(ho store.Handover, c store.Placed) string {
	if strings.Contains(c.Staged, "/") {
		return path.Join(root, c.Staged)
	}
	return path.Join(root, ho.Stage, c.Staged)
}

// carryOut does what committed hand-overs say: all children under their names, on
// stable storage, before any source goes. Doing it again, or doing it at the same
// time on two hosts, is harmless. A hand-over that meets trouble does not keep the
// others up.
func (s *Spool) carryOut(ctx context.Context, h *store.Holder, list []store.Handover) error {
	p := s.placing()
	defer p.close()
	var errs []error
	var placed []store.Handover
	for _, ho := range list {
		if err := p.renameAll(ctx, ho); err != nil {
			errs = append(errs, err)
			continue
		}
		placed = append(placed, ho)
	}
	if err := p.sync(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	var ok []store.Handover
	for _, ho := range placed {
		if hasSource(ho) && !ho.Keep {
			if err := s.remove(source(ho)); err != nil {
				errs = append(errs, fmt.Errorf("remove entry: %w", err))
				continue
			}
		}
		ok = append(ok, ho)
	}
	s.carriedOut(h, ok)
	for i, ho := range ok {
		if ho.Stage != "" && (i == 0 || ho.Stage != ok[i-1].Stage) {
			_ = s.c.FS.Remove(path.Join(root, ho.Stage)) // not empty yet, or never: swept later
		}
	}
	return errors.Join(errs...)
}

func (p *placing) renameAll(ctx context.Context, ho store.Handover) error {
	for _, c := range ho.Children {
		if err := p.rename(ctx, staged(ho, c), c.Target); err != nil {
			return fmt.Errorf("publish %s: %w", c.Target, err)
		}
	}
	return nil
}
