package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// Before Put returns: write, fsync the file, rename, fsync the folder, in this order.
func TestPutSyncsBeforeItAnswers(t *testing.T) {
	real, _ := openRoot(t)
	var calls []string
	n := newNode(fsys.Observed(real, fsys.Hook{After: func(op, name string, err error) error {
		switch op {
		case "write", "sync", "dirrename", "syncdir", "dirlink", "link", "rename":
			if strings.HasPrefix(name, "queue/in") || strings.HasPrefix(name, "queue/tmp") {
				calls = append(calls, op)
			}
		}
		return err
	}}), newLocker(), "a")
	for range 2 {
		calls = nil
		if _, err := n.Put(t.Context(), post("one")); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"write", "sync", "dirrename", "syncdir"}, calls); d != "" {
		t.Error(d)
	}
}

// Puts that come while the folder is being synced share the next sync.
func TestPutsShareFolderSyncs(t *testing.T) {
	const puts = 64
	real, _ := openRoot(t)
	var syncs, renamed atomic.Int64
	all := make(chan struct{})
	n := newNode(fsys.Observed(real, fsys.Hook{
		Before: func(op, name string) error {
			if op == "syncdir" && name == Dir(queue.In, ant) && syncs.Add(1) == 1 {
				<-all // the first sync lasts until everybody has come
			}
			return nil
		},
		After: func(op, name string, err error) error {
			if op == "dirrename" && renamed.Add(1) == puts {
				close(all)
			}
			return err
		},
	}), newLocker(), "a")
	if err := fsys.MkdirAll(real, Dir(queue.In, ant)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range puts {
		wg.Go(func() {
			if _, err := n.Put(t.Context(), post(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := syncs.Load(); got > puts/4 {
		t.Errorf("%d syncs for %d puts", got, puts)
	}
	if got := outcome(t, real); len(got) != puts {
		t.Errorf("%d of %d posts are there", len(got), puts)
	}
}

// A holder removes the folder while it is empty, again and again, just before the
// name is made in it.
func TestPutAgainstTidy(t *testing.T) {
	real, _ := openRoot(t)
	left := 0
	n := newNode(fsys.Observed(real, fsys.Hook{Before: func(op, name string) error {
		if op == "dirrename" && left > 0 {
			left--
			return real.Remove(Dir(queue.In, ant))
		}
		return nil
	}}), newLocker(), "a")
	for i := range 2 { // with a folder that was never open, and with one that was
		left = placeTries - 1
		id := must(n.Put(t.Context(), post("x")))
		if d := cmp.Diff(map[string]int{"in x": 1}, outcome(t, real)); d != "" || left > 0 {
			t.Errorf("round %d: %d removals left; %s", i, left, d)
		}
		if err := real.Remove(Dir(queue.In, ant) + "/" + string(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamesSortByTheServersClock(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	setUp(t, srv.Host("setup"), newLocker())
	var ids []queue.ID
	for i, host := range []string{"b", "a", "c", "a"} {
		srv.SetClock(time.Duration(i) * time.Second)
		ids = append(ids, must(newNode(srv.Host(host), newLocker(), host).Put(t.Context(), post("x"))))
	}
	if !slices.IsSorted(ids) {
		t.Errorf("later entries sort before earlier ones: %v", ids)
	}
	if got := must(newNode(srv.Host("d"), newLocker(), "d").IDs(t.Context(), queue.In, ant)); !slices.Equal(got, ids) {
		t.Errorf("listed as %v, want %v", got, ids)
	}
}

// A full disk refuses posts; it loses none, and moves none to bad or shunt.
func TestFullDisk(t *testing.T) {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ESTALE} {
		real, _ := openRoot(t)
		l := newLocker()
		setUp(t, real, l, "one", "hold", "drop", "poison")
		var full atomic.Bool
		full.Store(true)
		n := newNode(fsys.Observed(real, fsys.Hook{Before: func(op, name string) error {
			if full.Load() && slices.Contains([]string{"write", "mkdir", "dirrename", "link", "rename"}, op) {
				return e
			}
			return nil
		}}), l, "a")
		if _, err := n.Put(t.Context(), post("two")); !errors.Is(err, e) {
			t.Errorf("Put under %v: %v", e, err)
		}
		for range 3 {
			if err := n.work(t.Context(), 2); err == nil {
				t.Errorf("a turn under %v passes", e)
			}
		}
		if d := cmp.Diff(map[string]int{"in one": 1, "in hold": 1, "in drop": 1, "in poison": 1}, outcome(t, real)); d != "" {
			t.Error(e, d)
		}
		full.Store(false)
		if err := n.work(t.Context(), 2); err != nil {
			t.Fatal(e, err)
		}
		if d := cmp.Diff(wanted, outcome(t, real)); d != "" {
			t.Error(e, d)
		}
	}
}

// Damaged files go to bad, whole, under new names; what cannot be read, or is from
// a newer version, stays where it is.
func TestDamagedEntries(t *testing.T) {
	f, dir := openRoot(t)
	l := newLocker()
	setUp(t, f, l, "one", "hold")
	n := newNode(f, l, "a")
	in := filepath.Join(dir, Dir(queue.In, ant))
	good := must(os.ReadFile(filepath.Join(in, string(must(n.IDs(t.Context(), queue.In, ant))[0]))))
	bad := map[string][]byte{"z1": {}, "z2": good[:10], "z3": good[:len(good)-1], "z4": []byte(strings.Repeat("\x00\xff", 2048)), "whole copy": good}
	for name, data := range bad {
		if err := os.WriteFile(filepath.Join(in, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(in, "z5"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.work(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"out one": 1, "archive one": 1, "new one": 1, "held hold": 1, "bad unreadable": len(bad) + 1}
	if d := cmp.Diff(want, outcome(t, f)); d != "" {
		t.Error(d)
	}
	var kept []string
	for _, name := range dirNames(t, f, Dir(queue.Bad, ant)) {
		data, err := os.ReadFile(filepath.Join(dir, Dir(queue.Bad, ant), name))
		if err == nil { // one is the folder
			kept = append(kept, string(data))
		}
	}
	if left := dirNames(t, f, "queue/in"); len(left) > 0 {
		t.Errorf("there is still work: %v", left)
	}
	for name, data := range bad {
		if !slices.Contains(kept, string(data)) {
			t.Errorf("%s is not in bad as it was", name)
		}
		if !strings.Contains(n.log.String(), name) {
			t.Errorf("the log does not name %s", name)
		}
	}
}

func TestUnreadableIsNotCorrupt(t *testing.T) {
	real, dir := openRoot(t)
	setUp(t, real, newLocker(), "one")
	id := must(newNode(real, nil, "a").IDs(t.Context(), queue.In, ant))[0]
	var c *CorruptError
	for _, e := range []syscall.Errno{syscall.ESTALE, syscall.EIO, syscall.EACCES, syscall.ENOENT} {
		n := newNode(fsys.Observed(real, fsys.Hook{Before: func(op, name string) error { return e }}), nil, "a")
		if _, err := n.Load(t.Context(), queue.In, ant, id); !errors.Is(err, e) || errors.As(err, &c) {
			t.Errorf("under %v: %v", e, err)
		}
	}
	file := filepath.Join(dir, Dir(queue.In, ant), string(id))
	data := must(os.ReadFile(file))
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "entry 1", "entry 2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newNode(real, nil, "a").Load(t.Context(), queue.In, ant, id); !errors.Is(err, ErrNewer) || errors.As(err, &c) {
		t.Errorf("newer: %v", err)
	}
}

// Mail for a list that is no more goes to shunt under the lock of the site's own list.
func TestUnknownListIsShunted(t *testing.T) {
	f, _ := openRoot(t)
	l := newLocker()
	setUp(t, f, l)
	n := newNode(f, l, "a")
	if err := n.store.Create(t.Context(), lists.Site, nobody); err != nil {
		t.Fatal(err)
	}
	e := post("lost")
	e.List, e.Target.List = "gone@example.org", "gone@example.org"
	must(n.Put(t.Context(), e))
	h, err := n.store.Lock(t.Context(), lists.Site, "test")
	if err != nil {
		t.Fatal(err)
	}
	a := n.NewAttempt(h)
	if err := a.Add(t.Context(), e, &queue.Outcome{Fate: queue.FateShunt, Reason: "no such list"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Commit(t.Context(), nobody), n.Release(t.Context(), h)); err != nil {
		t.Fatal(err)
	}
	ids := must(n.IDs(t.Context(), queue.Shunt, e.List))
	got, err := n.Load(t.Context(), queue.Shunt, e.List, ids[0])
	if err != nil || got.Meta.Cause != "no such list" || got.Meta.From != queue.In {
		t.Errorf("shunted as %+v, %v", got, err)
	}
	if left := must(n.IDs(t.Context(), queue.In, e.List)); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

// A held message that is let go: a commit without a source entry, and the file goes.
func TestHeldMessageLetGo(t *testing.T) {
	f, _ := openRoot(t)
	l := newLocker()
	setUp(t, f, l, "hold")
	n := newNode(f, l, "a")
	if err := n.work(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := acceptHeld(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"pipeline hold": 1}, outcome(t, f)); d != "" {
		t.Error(d)
	}
}

func BenchmarkPut(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d at a time", workers), func(b *testing.B) {
			f, _ := openRoot(b)
			n := newNode(f, newLocker(), "a")
			parallel(b, workers, func() error {
				_, err := n.Put(context.Background(), post("x"))
				return err
			})
		})
		b.Run(fmt.Sprintf("bare fsync, %d at a time", workers), func(b *testing.B) {
			f, _ := openRoot(b)
			var seq atomic.Int64
			parallel(b, workers, func() error {
				name := fmt.Sprint(seq.Add(1))
				return fsys.WriteNew(f, name, func(w io.Writer) error {
					_, err := w.Write(make([]byte, 600))
					return err
				})
			})
		})
	}
}

func parallel(b *testing.B, workers int, do func() error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for range workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
