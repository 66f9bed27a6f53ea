package store

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/locking"
	"qrunner/locking/fsys"
)

// Create makes a list, with cs as its first changes. ErrExists if there is one. The
// new list is another one than any earlier of the same name: it has an incarnation
// of its own.
func (s *Store) Create(ctx context.Context, id lists.ID, by By, cs ...Change) error {
	lease, err := s.Locker.Lock(ctx, locking.Key(id), locking.Exclusive, locking.WithNote("create"))
	if err != nil {
		return fmt.Errorf("lock list %s: %w", id, err)
	}
	err = s.create(ctx, id, by, cs)
	if uerr := lease.Unlock(context.WithoutCancel(ctx)); err == nil && !errors.Is(uerr, locking.ErrLost) {
		err = uerr // a lost lease does no harm here: the generation decides
	}
	if err != nil {
		return fmt.Errorf("create list %s: %w", id, err)
	}
	return nil
}

func (s *Store) create(ctx context.Context, id lists.ID, by By, cs Changes) error {
	old, err := s.newest(ctx, id)
	if err != nil {
		return err
	}
	if old.Incarnation != "" {
		// Its deletion may have stopped half-way: only its log can tell.
		_, err := s.Read(ctx, id)
		if err == nil {
			return ErrExists
		}
		if !errors.Is(err, lists.ErrNoList) {
			return err
		}
		if old, err = s.newest(ctx, id); err != nil {
			return err
		}
		if old.Incarnation != "" {
			return errors.New("the deleted list has no tombstone yet")
		}
	}
	g := generation{N: old.N + 1, List: id, Incarnation: random()}
	if err := s.firstRecord(g, by, cs); err != nil {
		s.raze(g.dir())
		return err
	}
	err = s.publish(g, g.dir().temp("generation"))
	if errors.Is(err, ErrExists) {
		s.raze(g.dir()) // certainly not the one that counts
	}
	return err
}

// firstRecord makes the folders of an incarnation that nobody knows yet, and the
// record that its log begins with.
func (s *Store) firstRecord(g generation, by By, cs Changes) error {
	dir := g.dir()
	for _, name := range dir.all() {
		if err := fsys.MkdirAll(s.FS, name); err != nil {
			return err
		}
	}
	st := emptyState(g.List, g.Incarnation)
	h := &Holder{s: s, id: g.List, state: &st}
	data, _, err := h.prepare(&Record{Kind: KindCreate, List: g.List, Incarnation: g.Incarnation,
		Actor: by.Actor, Reason: by.Reason, Changes: cs})
	if err != nil {
		return err
	}
	temp, err := s.writeRecord(dir, data)
	if err != nil {
		return err
	}
	defer s.drop(temp)
	got, err := place(s.FS, temp, dir.record(1))
	if err == nil && got != placed {
		err = errors.New("the new log has a first record already")
	}
	return err
}
