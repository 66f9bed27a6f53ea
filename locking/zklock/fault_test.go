package zklock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

// An error at any step leaves no node.
func TestErrorsLeaveNothing(t *testing.T) {
	for _, op := range []string{"create", "getChildren2", "getData", "createContainer"} {
		for _, code := range []int32{zktest.CodeNoAuth, zktest.CodeUnimplemented, -4, -7} {
			t.Run(op, func(t *testing.T) {
				bubble(t, zktest.Config{}, func(w *world) {
					w.host(1)
					var first *Lease
					if op == "getData" { // is asked by waiters
						first = w.lock(0)
					}
					w.ens.Hook(func(r zktest.Request) zktest.Fate {
						if isContender(op)(r) {
							return zktest.Fate{Code: code}
						}
						return zktest.Fate{}
					})
					if le, err := w.host(1).Lock(context.Background(), listKey, locking.Exclusive); err == nil {
						t.Errorf("got %s", le.Key())
					}
					w.ens.Hook(nil)
					if first != nil {
						w.unlock(first)
					}
					w.clean()
				})
			})
		}
	}
}

// A cancellation at any step returns soon and leaves no node, even if the call that is on
// its way is done much later.
func TestCancelAtEveryStep(t *testing.T) {
	for _, op := range []string{"create", "getChildren2", "getData", "multi", "delete"} {
		t.Run(op, func(t *testing.T) {
			bubble(t, zktest.Config{}, func(w *world) {
				first := w.lock(0)
				l := w.host(1)
				ctx, cancel := context.WithCancelCause(context.Background())
				why := errors.New("no longer wanted")
				release := make(chan struct{})
				reached := w.ens.Once(func(r zktest.Request) bool {
					return r.Op == op && r.Session == l.s.conn.SessionID()
				}, zktest.Fate{Wait: release})
				out := w.lockLater(ctx, 1, locking.Exclusive)
				if op == "delete" {
					cancel(why) // then it is the removal that hangs
				}
				select {
				case <-reached:
				case <-time.After(timeout):
					t.Fatal("not reached")
				}
				cancel(why)
				start := time.Now()
				r := <-out
				if !errors.Is(r.err, why) {
					t.Errorf("got %+v, want the cause", r)
				}
				if d := time.Since(start); d > timeout/beatParts {
					t.Errorf("returned after %v", d)
				}
				time.Sleep(time.Second)
				close(release)
				time.Sleep(2 * timeout) // the connection may have been given up, and what it did be found late
				if n := w.nodes(); len(n) != 1 || n[0] != first.name {
					t.Errorf("nodes %q", n)
				}
				w.unlock(first)
			})
		})
	}
}

// What a process that is cut off left behind goes when it comes back in time.
func TestAbandonedWhileCutOff(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		ctx, cancel := context.WithCancel(context.Background())
		next := w.lockLater(ctx, 1, locking.Exclusive)
		w.host(1).link.Cut()
		cancel()
		if r := <-next; !errors.Is(r.err, context.Canceled) {
			t.Errorf("got %+v", r)
		}
		if len(w.nodes()) != 2 {
			t.Errorf("nodes %q", w.nodes())
		}
		w.host(1).link.Heal()
		time.Sleep(timeout / 4)
		if len(w.nodes()) != 1 {
			t.Errorf("nodes after the link healed: %q", w.nodes())
		}
		w.unlock(le)
	})
}

// One server stops answering: the lease goes on at another.
func TestMuteServer(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		le := w.lock(0)
		var at atomic.Int64
		w.ens.Hook(func(r zktest.Request) zktest.Fate { at.Store(int64(r.Server)); return zktest.Fate{} })
		time.Sleep(timeout)
		never, mute := make(chan struct{}), int(at.Load())
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if r.Server == mute {
				return zktest.Fate{Wait: never, Lose: true}
			}
			return zktest.Fate{}
		})
		time.Sleep(2 * timeout)
		if err := context.Cause(le.Context()); err != nil {
			t.Errorf("lease: %v", err)
		}
		w.unlock(le)
	})
}

// A server that has lost its leader answers reads but no writes. That is no sign of life.
func TestReadsAreNoProof(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		time.Sleep(timeout)
		never := make(chan struct{})
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if r.Op == "multi" {
				return zktest.Fate{Wait: never, Lose: true}
			}
			return zktest.Fate{}
		})
		start := time.Now()
		select {
		case <-le.Context().Done():
		case <-time.After(timeout):
			t.Fatal("the lease goes on without proof")
		}
		if d := time.Since(start); d > timeout/leaseParts {
			t.Errorf("lost after %v", d)
		}
		w.ens.Hook(nil)
		if err := le.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
		w.clean()
	})
}

// A holder that is lost but lives, and never gives back, does not block the lock for ever.
func TestLostAndNotGivenBack(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		w.host(0).link.Cut()
		<-le.Context().Done()
		w.host(0).link.Heal()
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		w.unlock(w.got(next, timeout))
		w.clean()
	})
}

// One watch for each node that is waited for, however many come and go.
func TestWatchesDoNotPileUp(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		time.Sleep(time.Second)
		l := w.host(1)
		for range 50 {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			if _, err := l.Lock(ctx, listKey, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		synctest.Wait()
		l.watches.mu.Lock()
		n := len(l.watches.at)
		l.watches.mu.Unlock()
		if got := w.ens.Watches(); n != 1 || got != 2 { // the holder's own, and the waiters'
			t.Errorf("%d watches here, %d at the server", n, got)
		}
		w.unlock(le)
		synctest.Wait()
		if got := w.ens.Watches(); got != 0 || len(l.watches.at) != 0 {
			t.Errorf("%d watches left at the server, %d here", got, len(l.watches.at))
		}
	})
}

// A release wakes one waiter, of many.
func TestNoHerd(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		const waiters = 10
		le := w.lock(0)
		var all []<-chan result
		for n := range waiters {
			all = append(all, w.lockLater(context.Background(), 1+n%2, locking.Exclusive))
		}
		before := w.ens.Calls("getChildren2")
		for _, out := range all {
			w.unlock(le)
			le = w.got(out, time.Second)
		}
		w.unlock(le)
		wakes := w.host(1).Stats().Wakes + w.host(2).Stats().Wakes
		lists := w.ens.Calls("getChildren2") - before
		if wakes != waiters || lists != waiters {
			t.Errorf("%d releases to a waiter: %d wakes, %d listings", waiters, wakes, lists)
		}
	})
}

// What the calls cost.
func TestCallsOfOneCycle(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		synctest.Wait()
		ops := []string{"create", "getChildren2", "delete", "multi", "getData", "createContainer", "sync", "exists"}
		before := map[string]int{}
		for _, op := range ops {
			before[op] = w.ens.Calls(op)
		}
		le := w.lock(0)
		synctest.Wait()
		w.unlock(le)
		synctest.Wait()
		for op, want := range map[string]int{"create": 1, "getChildren2": 1, "delete": 1} {
			before[op] += want
		}
		for _, op := range ops {
			if got := w.ens.Calls(op); got != before[op] {
				t.Errorf("%s: %d too many", op, got-before[op])
			}
		}
	})
}

func TestTryOfHeldLockWritesNothing(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0, locking.WithNote("fan-out"))
		w.host(1)
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if r.Op == "create" || r.Op == "delete" {
				t.Errorf("%s %s", r.Op, r.Path)
			}
			return zktest.Fate{}
		})
		_, err := w.host(1).TryLock(context.Background(), listKey, locking.Exclusive)
		var held *locking.HeldError
		if !errors.As(err, &held) || held.By.Host != "h0" || held.By.PID != 100 || held.By.Note != "fan-out" {
			t.Errorf("got %v", err)
		}
		w.ens.Hook(nil)
		w.unlock(le)
	})
}

// TryLock does not wait for servers that are away.
func TestTryWithoutServers(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		l := w.host(0)
		l.link.Cut()
		start := time.Now()
		if _, err := l.TryLock(context.Background(), listKey, locking.Exclusive); err == nil || isHeld(err) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d > timeout/2 {
			t.Errorf("after %v", d)
		}
		l.link.Heal()
		time.Sleep(timeout)
		w.clean()
	})
}

func TestNodesThatVanish(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		w.ens.Delete(listDir) // as the server does with an empty container
		w.unlock(w.lock(0))
		for _, n := range []string{listDir, "/qrunner/locks", "/qrunner"} {
			w.ens.Delete(n)
		}
		w.unlock(w.lock(0))
		if _, err := w.host(0).TryLock(context.Background(), "out/a/0-9", locking.Exclusive); err != nil {
			t.Error(err)
		}
	})
}

func TestClose(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 0, locking.Exclusive)
		if err := w.host(0).Close(); err != nil {
			t.Error(err)
		}
		if r := <-next; !errors.Is(r.err, ErrClosed) {
			t.Errorf("waiter: %+v", r)
		}
		if err := context.Cause(le.Context()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("holder: %v", err)
		}
		if err := le.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
		w.clean()
		if _, err := w.host(0).Lock(context.Background(), listKey, locking.Shared); !errors.Is(err, ErrClosed) {
			t.Errorf("lock after close: %v", err)
		}
		if err := w.host(0).Close(); err != nil {
			t.Error(err)
		}
	})
}
