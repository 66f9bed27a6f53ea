package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// A history file holds what the records of a stretch of the log changed, after the
// records themselves were collected: one line each. history/<n> goes up to record
// n. Two of them may overlap, when two hosts collected at once.

// passing are the changes that say nothing about the list a day later: the
// bookkeeping of queues, which the trace has. A record of such changes alone is
// not kept.
var passing = []string{"mark_seen", "open_handover", "close_handover", "mark_attempt", "clear_attempt", "set_post_id", "add_count"}

func lasting(r *Record) bool {
	if r.Kind == KindCreate || r.Kind == KindDelete {
		return true
	}
	return slices.ContainsFunc(r.Changes, Lasting)
}

// Lasting says whether a change belongs to a list's history, as members, settings, held
// posts and requests do. What the queues note about their own work does not.
func Lasting(c Change) bool { return !slices.Contains(passing, c.Kind()) }

// keepHistory makes sure that the history goes up to record limit.
func (s *Store) keepHistory(ctx context.Context, dir folder, limit uint64) error {
	have, err := s.listNumbers(dir.histories(), true)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearch(have, limit)
	if found || i < len(have) {
		return nil
	}
	var from uint64
	if i > 0 {
		from = have[i-1]
	}
	temp := dir.temp("history")
	err = fsys.WriteNew(s.FS, temp, func(w io.Writer) error {
		f := newFramer(w, "history")
		err := s.scan(ctx, dir, from+1, limit, func(r *Record) error {
			if lasting(r) {
				f.line(r)
			}
			return nil
		})
		return errors.Join(err, f.end())
	})
	if err != nil {
		return err
	}
	defer s.drop(temp)
	_, err = place(s.FS, temp, dir.history(limit))
	return err
}

// scan reads records from first to last in batches.
func (s *Store) scan(ctx context.Context, dir folder, first, last uint64, fn func(*Record) error) error {
	batch := make([]*Record, 8*readers)
	for n := first; n <= last; {
		part := batch[:min(uint64(len(batch)), last-n+1)]
		if err := s.readRecords(ctx, dir, n, part); err != nil {
			return err
		}
		for _, r := range part {
			if err := fn(r); err != nil {
				return err
			}
		}
		n += uint64(len(part))
	}
	return nil
}

// Records calls fn with each record of the list's present incarnation, oldest
// first: the audit trail. Of the past beyond two snapshots it has what changed the
// list itself; the bookkeeping of queues is left out. An error of fn ends it.
func (s *Store) Records(ctx context.Context, id lists.ID, fn func(Record) error) error {
	g, err := s.current(ctx, id)
	if err != nil {
		return err
	}
	dir := g.dir()
	var last uint64
	once := func(r *Record) error {
		if r.N <= last {
			return nil
		}
		last = r.N
		return fn(*r)
	}
	for try := range loadTries {
		if err = s.audit(ctx, dir, try > 0, &last, once); err == nil || !again(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("records of list %s: %w", id, err)
	}
	return nil
}

// audit goes through history and log once; last is moved on past what a history
// file covers.
func (s *Store) audit(ctx context.Context, dir folder, touch bool, last *uint64, fn func(*Record) error) error {
	v, err := s.look(dir, touch)
	if err != nil {
		return err
	}
	past, err := s.listNumbers(dir.histories(), touch)
	if err != nil {
		return err
	}
	for _, n := range past {
		if n <= *last {
			continue
		}
		if err := s.readHistory(dir.history(n), fn); err != nil {
			return err
		}
		*last = max(*last, n)
	}
	end := v.chain(*last)
	if base := v.base(); end < base {
		return &GapError{Dir: dir.log(), Missing: end + 1, Head: base}
	}
	return s.scan(ctx, dir, *last+1, end, fn)
}

func (s *Store) readHistory(name string, fn func(*Record) error) error {
	f, err := s.FS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := newDeframer(f, "history")
	if err != nil {
		return damaged(name, err)
	}
	var all []*Record
	for {
		line, err := d.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return damaged(name, err)
		}
		var r Record
		if err := strict(line, &r); err != nil {
			return damaged(name, d.verdict(err))
		}
		all = append(all, &r)
	}
	for _, r := range all {
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}
