package spool

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// deafLocker is a lock that keeps nobody out and tells nobody: every holder believes
// that it is alone. Only the fence is left.
type deafLocker struct{}

func (deafLocker) Lock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return newLocker().Lock(ctx, key, m, opts...)
}

func (l deafLocker) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return l.Lock(ctx, key, m, opts...)
}

// A holder sleeps at any of its calls while a successor does all the work, or only
// gets so far as to sweep, then goes on. With a lock that tells it so, or with one
// that does not: every post once.
func TestSleeperAtEveryCall(t *testing.T) {
	turns := map[string]func(n *node) error{
		"all":   func(n *node) error { return n.work(context.Background(), 2) },
		"sweep": (*node).sweepOnly,
	}
	for _, tt := range []struct {
		name string
		lock locking.Locker
		turn string
	}{{"lock", newLocker(), "all"}, {"no lock", deafLocker{}, "all"}, {"no lock", deafLocker{}, "sweep"}} {
		t.Run(tt.name+", "+tt.turn, func(t *testing.T) {
			for at := 1; ; at += stride() {
				if n := sleeper(t, tt.lock, turns[tt.turn], at); n < at {
					t.Logf("%d calls", n)
					return
				}
				if t.Failed() {
					t.Fatalf("sleeping at call %d", at)
				}
			}
		})
	}
}

func (n *node) sweepOnly() error {
	h, err := n.store.Lock(context.Background(), ant, "test")
	if err != nil {
		return err
	}
	return n.Recover(context.Background(), h)
}

// sleeper returns how many calls the sleeping host made.
func sleeper(t *testing.T, lock locking.Locker, turn func(*node) error, at int) int {
	srv := simfs.New(simfs.Config{Version: simfs.V3})
	defer srv.Close()
	setUp(t, srv.Host("setup"), lock, subjects...)
	b := newNode(srv.Host("b"), lock, "b")
	if _, err := b.IDs(t.Context(), queue.In, ant); err != nil { // b has seen it all, in its caches
		t.Fatal(err)
	}
	var calls atomic.Int64
	f := fsys.Observed(srv.Host("a"), fsys.Hook{Before: func(op, name string) error {
		if calls.Add(1) == int64(at) {
			if err := turn(b); err != nil {
				t.Errorf("successor: %v", err)
			}
		}
		return nil
	}})
	a := newNode(f, lock, "a")
	err := a.work(t.Context(), 2)
	made := int(calls.Swap(int64(at))) // no more sleep
	ok := err == nil || errors.Is(err, locking.ErrLost) || errors.Is(err, store.ErrFenced) || fsys.Gone(err)
	if !ok {
		t.Errorf("sleeper: %v", err)
	}
	for _, n := range []*node{a, b} {
		if err := n.work(t.Context(), 2); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	settled(t, srv, lock)
	return made
}

// A publication that fails leaves the decision standing: the entry is not decided
// again, and Recover finishes.
func TestHandedOverIsNotProcessedAgain(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	l := newLocker()
	setUp(t, srv.Host("setup"), l, "one", "two")
	n := newNode(srv.Host("a"), l, "a")
	ctx := t.Context()
	h, err := n.store.Lock(ctx, ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := n.IDs(ctx, queue.In, ant)
	if err != nil {
		t.Fatal(err)
	}
	one, err := n.Load(ctx, queue.In, ant, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	a := n.NewAttempt(h)
	if err := a.Add(ctx, one, decide(one)); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(ctx, one, decide(one)); !errors.Is(err, ErrHandedOver) {
		t.Errorf("twice in one attempt: %v", err)
	}
	srv.Inject(simfs.Fault{Host: "a", Op: "dirrename", Kind: simfs.Refuse})
	if err := a.Commit(ctx, store.By{}); err == nil {
		t.Error("nothing was published, and Commit says nothing")
	}
	srv.Heal()
	if err := a.Commit(ctx, store.By{}); err == nil {
		t.Error("an attempt can be committed twice")
	}
	if err := n.NewAttempt(h).Add(ctx, one, decide(one)); !errors.Is(err, ErrHandedOver) {
		t.Errorf("after the commit: %v", err)
	}
	if err := n.Recover(ctx, h); err != nil {
		t.Fatal(err)
	}
	if err := n.attempt(ctx, h, ids[1:]); err != nil {
		t.Fatal(err)
	}
	if err := n.Release(ctx, h); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"out one": 1, "archive one": 1, "new one": 1, "out two": 1, "archive two": 1, "new two": 1}
	if d := cmp.Diff(want, outcome(t, srv.Observer())); d != "" {
		t.Error(d)
	}
}
