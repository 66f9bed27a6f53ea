package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// fault makes the n-th call, or every call from the n-th on, fail.
type fault struct {
	at      int
	forever bool
	lost    bool // the call is made, its answer is lost
	errno   syscall.Errno
	nfs     simfs.Version

	mu sync.Mutex
	n  int
	op string
}

// strike reports the error of the call that is being made.
func (f *fault) strike(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.n == f.at {
		f.op = op
	}
	if f.at > 0 && (f.n == f.at || f.forever && f.n > f.at) {
		return f.errno
	}
	return nil
}

func (f *fault) hook() fsys.Hook {
	if !f.lost {
		return fsys.Hook{Before: func(op, name string) error { return f.strike(op) }}
	}
	return fsys.Hook{After: func(op, name string, err error) error {
		if ferr := f.strike(op); ferr != nil && err == nil {
			if op == "dirlink" || op == "link" || op == "mkdir" {
				ferr = syscall.EEXIST // what a repeated call is answered
			}
			return &os.PathError{Op: op, Path: name, Err: ferr}
		}
		return err
	}}
}

func (f *fault) String() string {
	return fmt.Sprintf("call %d (%s), forever %v, lost %v, %v", f.at, f.op, f.forever, f.lost, f.errno)
}

// everyFault runs the scenario with each kind of fault at each call, until a run
// has fewer calls than that.
func everyFault(t *testing.T, run func(t *testing.T, f *fault)) {
	var kinds []*fault
	for _, v := range []simfs.Version{simfs.V3, simfs.V42} {
		kinds = append(kinds, faultKinds(v)...)
	}
	for _, k := range kinds {
		for at := 1; ; at++ {
			f := &fault{at: at, forever: k.forever, lost: k.lost, errno: k.errno, nfs: k.nfs}
			run(t, f)
			if t.Failed() {
				t.Fatalf("with the fault %v", f)
			}
			if f.n < at {
				break
			}
		}
	}
}

func faultKinds(v simfs.Version) []*fault {
	kinds := []*fault{
		{errno: syscall.EIO}, {errno: syscall.ENOSPC}, {errno: syscall.ESTALE}, {errno: syscall.ENOENT},
		{errno: syscall.EIO, lost: true}, {errno: syscall.EIO, forever: true}, {errno: syscall.EIO, forever: true, lost: true},
	}
	for _, k := range kinds {
		k.nfs = v
	}
	return kinds
}

// faultWorld is a list with one member, seen by host a through the fault.
func faultWorld(t *testing.T, f *fault) (w *world, a, clean *Store) {
	w = newSim(t, simfs.Config{Version: f.nfs})
	clean = w.host("b")
	w.create(clean)
	h := w.lock(clean)
	w.commit(h, AddMember{member(1)})
	w.release(h)
	return w, w.hostOn(fsys.Observed(w.view("a"), f.hook()), "a", 0), clean
}

// Whatever call fails in whatever way: a commit that says nil is in the log, one
// that says anything but ErrUnknown is not, and the list can be worked on.
func TestFaultAtEveryCallOfAGrant(t *testing.T) {
	everyFault(t, func(t *testing.T, f *fault) {
		w, a, clean := faultWorld(t, f)
		var acked, refused []int
		h, err := a.Lock(t.Context(), testList, "test")
		for i := 2; err == nil && i < 5; i++ {
			cerr := h.Commit(t.Context(), By{}, AddMember{member(i)})
			switch {
			case cerr == nil:
				acked = append(acked, i)
			case !errors.Is(cerr, ErrUnknown):
				refused = append(refused, i)
			}
			if got, has := holds(h.State(), i), slices.Contains(acked, i); has && !got || got && slices.Contains(refused, i) {
				t.Errorf("member %d: commit says %v, holder's state has it: %v", i, cerr, got)
			}
		}
		if err == nil {
			_ = h.Release(t.Context())
		}
		if errors.Is(err, lists.ErrNoList) {
			t.Errorf("a fault became %v", err)
		}
		w.locks.Steal(testList)
		for range 2 {
			st := w.read(w.host("new"))
			for _, i := range acked {
				if !holds(st, i) {
					t.Errorf("member %d was acknowledged and is not there", i)
				}
			}
			for _, i := range refused {
				if holds(st, i) {
					t.Errorf("member %d was refused and is there", i)
				}
			}
			h := w.lock(clean)
			w.commit(h, SetPostID{h.State().List().PostID + 1})
			w.release(h)
		}
	})
}

func holds(s *State, i int) bool {
	_, ok := s.List().Roster.Find(lists.RoleMember, member(i).Address)
	return ok
}

// A fault during an import: all members or none.
func TestFaultAtEveryCallOfAnImport(t *testing.T) {
	const n = 50
	everyFault(t, func(t *testing.T, f *fault) {
		if f.forever {
			return
		}
		w, a, _ := faultWorld(t, f)
		h, err := a.Lock(t.Context(), testList, "test")
		if err == nil {
			err = h.Import(t.Context(), By{}, manyMembers(n), nil)
			_ = h.Release(t.Context())
		}
		w.locks.Steal(testList)
		got := w.read(w.host("new")).List().Roster.Count(lists.RoleMember)
		switch {
		case err == nil && got != n, err != nil && !errors.Is(err, ErrUnknown) && got != 1, got != 1 && got != n:
			t.Errorf("import says %v, the list has %d members", err, got)
		}
	})
}

// A fault while a list is made or ended.
func TestFaultAtEveryCallOfCreateAndDelete(t *testing.T) {
	everyFault(t, func(t *testing.T, f *fault) {
		w, a, clean := faultWorld(t, f)
		const id = "other@example.org"
		err := a.Create(t.Context(), id, By{}, SetPostID{7})
		st, rerr := clean.Read(t.Context(), id)
		switch {
		case err == nil && (rerr != nil || st.List().PostID != 7):
			t.Errorf("created, but: %v", rerr)
		case rerr != nil && !errors.Is(rerr, lists.ErrNoList):
			t.Errorf("after create says %v, read says %v", err, rerr)
		case rerr == nil && st.List().PostID != 7:
			t.Errorf("half a list: post id %d", st.List().PostID)
		}
		err = a.Delete(t.Context(), testList, By{})
		w.locks.Steal(testList)
		st, rerr = w.host("new").Read(t.Context(), testList)
		switch {
		case errors.Is(rerr, lists.ErrNoList):
		case rerr != nil:
			t.Errorf("after delete says %v, read says %v", err, rerr)
		case err == nil:
			t.Error("deleted, but still there")
		case !holds(st, 1):
			t.Error("half a list is left")
		}
		if errors.Is(rerr, lists.ErrNoList) {
			w.create(w.host("new"))
		}
		w.work(w.host("new"), 1)
	})
}

// A fault while snapshots are made and records collected costs nothing.
func TestFaultAtEveryCallOfCollecting(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	for _, lost := range []bool{false, true} {
		for at := 1; ; at++ {
			f := &fault{at: at, errno: syscall.EIO, lost: lost}
			w, _, clean := faultWorld(t, &fault{})
			w.work(clean, 8)
			g, err := clean.current(t.Context(), testList)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []uint64{6, 9, 14} {
				st, err := w.host("x").build(t.Context(), g, mustLook(t, clean, g), n)
				if err != nil {
					t.Fatal(err)
				}
				if err := clean.putSnapshot(g.dir(), st); err != nil {
					t.Fatal(err)
				}
			}
			want := dump(w.read(clean))
			a := w.hostOn(fsys.Observed(w.view("a"), f.hook()), "a", 0)
			_ = a.collect(t.Context(), g.dir())
			if got := dump(w.read(w.host("new"))); got != want {
				t.Errorf("fault %v: state has changed", f)
			}
			h := w.lock(clean)
			w.release(h)
			if err := clean.collect(t.Context(), g.dir()); err != nil {
				t.Errorf("fault %v: %v", f, err)
			}
			if v := mustLook(t, clean, g); v.records[0] != 7 || len(v.snapshots) != 2 {
				t.Errorf("fault %v: %v %v are left", f, v.records, v.snapshots)
			}
			if t.Failed() || f.n < at {
				break
			}
		}
	}
}

func mustLook(t *testing.T, s *Store, g generation) view {
	t.Helper()
	v, err := s.look(g.dir(), true)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
