package lockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"qrunner/locking"
)

// twoProcesses are two Lockers with gates of their own, as two processes have.
func twoGates(t *testing.T) (a, b *local) {
	dir := t.TempDir()
	for _, g := range []**local{&a, &b} {
		var err error
		if *g, err = openLocal(dir); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

func TestLocalGate(t *testing.T) {
	a, b := twoGates(t)
	at, other := offset("one"), offset("two")
	leave, held := a.try(at)
	if !held {
		t.Fatal("cannot take a free gate")
	}
	if _, held := b.try(at); held {
		t.Error("two hold one gate")
	}
	if l, held := b.try(other); !held {
		t.Error("another key's gate is shut")
	} else {
		l()
	}
	if l := b.wait(context.Background(), at, time.Millisecond); l != nil {
		t.Error("waited a millisecond and got a gate that is held")
	}
	if _, held := b.try(at); held {
		t.Error("got a gate that an earlier wait still asks for")
	}
	got := make(chan func())
	go func() { got <- b.wait(context.Background(), at, time.Hour) }() // joins the earlier wait
	leave()
	l := <-got
	if l == nil {
		t.Fatal("the gate came free, the waiter did not get it")
	}
	if _, held := a.try(at); held {
		t.Error("two hold one gate")
	}
	l()
	if l := a.wait(context.Background(), at, time.Hour); l == nil {
		t.Error("the gate stays shut")
	}
}

// A gate whose holder never opens it costs the wait and no more.
func TestLocalGateIsAdvisory(t *testing.T) {
	share, gate := t.TempDir(), t.TempDir()
	a, b := realLocker(t, share, gate), realLocker(t, share, gate)
	b.cfg.LocalWait = time.Millisecond
	if _, held := a.local.try(offset(string(listKey))); !held {
		t.Fatal("cannot take a free gate")
	}
	le, err := b.Lock(context.Background(), listKey, locking.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if err := le.Unlock(context.Background()); err != nil {
		t.Fatal(err)
	}
	for {
		le, err := b.TryLock(context.Background(), listKey, locking.Exclusive)
		if err == nil {
			_ = le.Unlock(context.Background())
			return
		}
		if !errors.Is(err, locking.ErrHeld) {
			t.Fatal(err)
		}
	}
}

// TestRealFiles is many goroutines of two Lockers over real files.
func TestRealFiles(t *testing.T) {
	share, gate := t.TempDir(), t.TempDir()
	ls := []*Locker{realLocker(t, share, gate), realLocker(t, share, gate)}
	var mu sync.Mutex
	inside, grants := 0, 0
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for range 50 {
				le, err := ls[g%2].Lock(context.Background(), listKey, locking.Exclusive)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				grants++
				if inside != 1 {
					t.Errorf("%d holders", inside)
				}
				mu.Unlock()
				if err := le.Verify(context.Background()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				inside--
				mu.Unlock()
				if err := le.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(filepath.Join(share, "locks", string(listKey))); err != nil || len(left) != 0 || grants != 400 {
		t.Errorf("%d grants, left %v, %v", grants, left, err)
	}
}

// Bug 11: a symbolic link or a FIFO at the lock's name is left alone, and stops nobody.
func TestBug11_SymlinkAndFifo(t *testing.T) {
	share := t.TempDir()
	dir := filepath.Join(share, "locks", string(listKey))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "lock")); err != nil {
		t.Fatal(err)
	}
	l := realLocker(t, share, "")
	if _, err := l.TryLock(context.Background(), listKey, locking.Exclusive); !errors.Is(err, locking.ErrNotALock) {
		t.Errorf("symbolic link: %v, want ErrNotALock", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "lock")), unix.Mkfifo(filepath.Join(dir, "lock"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := l.Inspect(context.Background(), listKey)
	if err != nil || r.State != locking.StateNotALock {
		t.Errorf("FIFO: %+v, %v", r, err)
	}
}
