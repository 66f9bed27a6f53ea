package store

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

func manyMembers(n int) iter.Seq[lists.Member] {
	return func(yield func(lists.Member) bool) {
		for i := range n {
			if !yield(member(i)) {
				return
			}
		}
	}
}

// bigList makes a list of n members; with snapshot, loading it needs no side file.
func bigList(b testing.TB, n int, snapshot bool) *world {
	w := newWorld(b)
	s := w.host("a")
	if err := s.Create(b.Context(), testList, By{}); err != nil {
		b.Fatal(err)
	}
	h, err := s.Lock(b.Context(), testList, "")
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Import(b.Context(), By{Actor: "bench"}, manyMembers(n), nil); err != nil {
		b.Fatal(err)
	}
	if snapshot {
		if err := s.putSnapshot(h.gen.dir(), h.state); err != nil {
			b.Fatal(err)
		}
	}
	if err := h.Release(b.Context()); err != nil {
		b.Fatal(err)
	}
	return w
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, snapshot := range []bool{true, false} {
			b.Run(fmt.Sprintf("members=%d/snapshot=%v", n, snapshot), func(b *testing.B) {
				w := bigList(b, n, snapshot)
				b.ReportAllocs()
				for b.Loop() {
					st, err := w.host("b").Read(b.Context(), testList)
					if err != nil || st.roster.len() != n {
						b.Fatal(err, st)
					}
				}
			})
		}
	}
}

func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		bigList(b, 1_000_000, false)
	}
}

func BenchmarkCommit(b *testing.B) {
	w := bigList(b, 1000, false)
	s := w.host("a")
	h, err := s.Lock(b.Context(), testList, "")
	if err != nil {
		b.Fatal(err)
	}
	i := uint64(0)
	for b.Loop() {
		i++
		if err := h.Commit(b.Context(), By{}, SetPostID{N: i}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGrant(b *testing.B) {
	w := bigList(b, 1000, false)
	s := w.host("a")
	for b.Loop() {
		h, err := s.Lock(b.Context(), testList, "")
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Release(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// What a grant and a commit cost in calls to the share. The numbers are here to be
// seen when they grow.
func TestCallsOfAGrant(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex // records are read side by side
	var calls []string
	s := w.hostOn(fsys.Observed(w.fs, fsys.Hook{Before: func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, op)
		return nil
	}}), "a", 0)
	w.create(s)
	w.work(s, 1)
	count := func(what string, limit int, f func()) {
		t.Helper()
		calls = nil
		f()
		if len(calls) > limit {
			t.Errorf("%s: %d calls, at most %d: %v", what, len(calls), limit, calls)
		}
	}
	var h *Holder
	count("grant", 15, func() { h = w.lock(s) })
	count("commit", 9, func() { w.commit(h, SetPostID{5}) })
	count("release", 10, func() { w.release(h) })
	count("read of what is known", 2, func() { w.read(s) })
}

// A list of 100,000 members takes well under 60 MB in memory.
func TestMemoryOfALargeList(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100,000 members")
	}
	w := bigList(t, 100_000, true)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := w.host("b")
	st := w.read(s)
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d members, %.1f MB", st.roster.len(), float64(used)/1e6)
	if used > 20e6 {
		t.Errorf("%d octets for 100,000 members", used)
	}
	runtime.KeepAlive(s)
}
