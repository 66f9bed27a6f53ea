package store

import (
	"errors"
	"slices"

	"qrunner/locking/fsys"
)

// view is a listing of an incarnation: which snapshots and records there are.
type view struct {
	dir       folder
	snapshots []uint64 // ascending
	records   []uint64 // ascending
}

// look lists records, then snapshots. In this order nothing that a garbage collector
// removed before, or that a sleeper put into a removed record's place, can be
// above the base: what is collected is below the newest base at any time. With
// touch the folders are touched first, so that no client's cache can hide a name.
func (s *Store) look(dir folder, touch bool) (view, error) {
	v := view{dir: dir}
	var err error
	if v.records, err = s.listNumbers(dir.log(), touch); err != nil {
		return v, err
	}
	v.snapshots, err = s.listNumbers(dir.snapshots(), touch)
	return v, err
}

// errMoved: snapshots were made while the log was being read.
var errMoved = errors.New("list moved on while it was read")

// settled confirms, after records above start were read, that they were not
// collected (and their numbers taken by a sleeper) before: a collector stays below
// the second newest snapshot.
func (s *Store) settled(dir folder, start uint64) error {
	bases, err := s.listNumbers(dir.snapshots(), false)
	if err == nil && len(bases) >= 2 && bases[len(bases)-2] > start {
		err = errMoved
	}
	return err
}

func (s *Store) listNumbers(name string, touch bool) ([]uint64, error) {
	list, err := listDir(s.FS, name, touch)
	return numbers(list), err
}

// listDir lists a folder afresh.
func listDir(f fsys.FS, name string, touch bool) ([]fsys.DirEntry, error) {
	if !touch {
		return f.ReadDir(name)
	}
	d, err := f.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return nil, err
	}
	return d.ReadDir()
}

// base is the number of the newest snapshot, 0 for none.
func (v view) base() uint64 {
	if len(v.snapshots) == 0 {
		return 0
	}
	return v.snapshots[len(v.snapshots)-1]
}

// head is the highest number that is taken, or was.
func (v view) head() uint64 {
	h := v.base()
	if len(v.records) > 0 {
		h = max(h, v.records[len(v.records)-1])
	}
	return h
}

// chain is the last record of the unbroken run above base; base itself if there is
// none. What stands behind a gap, or at or below the base, does not count.
func (v view) chain(base uint64) uint64 {
	i, _ := slices.BinarySearch(v.records, base+1)
	for _, n := range v.records[i:] {
		if n != base+1 {
			break
		}
		base = n
	}
	return base
}

// whole refuses a log that has lost records: above its base, or all of them.
func (v view) whole() error {
	if v.head() == 0 {
		return &GapError{Dir: v.dir.log(), Missing: 1}
	}
	return v.gap(v.base())
}

// gap says which record is missing between base and the last one.
func (v view) gap(base uint64) error {
	c := v.chain(base)
	if n := len(v.records); n > 0 && v.records[n-1] > c {
		return &GapError{Dir: v.dir.log(), Missing: c + 1, Head: v.records[n-1]}
	}
	return nil
}
