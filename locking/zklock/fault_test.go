package zklock

import (
	"context"
	"errors"
	"net"
	"strings"
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

// mute accepts connections and never says anything.
func mute(ctx context.Context) (net.Conn, error) {
	c, s := net.Pipe()
	go func() {
		b := make([]byte, 1024)
		for {
			if _, err := s.Read(b); err != nil {
				return
			}
		}
	}()
	return c, nil
}

func TestOpenErrors(t *testing.T) {
	for label, test := range map[string]struct {
		mod  func(*world, *Config)
		want string
		in   time.Duration // the longest it may take
	}{
		"nobody there": {func(w *world, c *Config) { w.ens.Refuse(0, true); c.ConnectTimeout = 3 * time.Second }, "s0:1", 4 * time.Second},
		"mute": {func(w *world, c *Config) {
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return mute(ctx) }
			c.ConnectTimeout = 5 * time.Second
		}, "no answer in time", 7 * time.Second},
		"too short": {func(w *world, c *Config) { c.SessionTimeout = time.Second }, "bounds make it 4s", time.Second},
		"too long":  {func(w *world, c *Config) { c.SessionTimeout = time.Minute }, "bounds make it 40s", time.Second},
		"no rights": {func(w *world, c *Config) { w.ens.Once(zktest.IsOp("create"), zktest.Fate{Code: zktest.CodeNoAuth}) }, "no permission", time.Second},
		"authentication": {func(w *world, c *Config) {
			c.Digest = "u:p"
			w.ens.Once(zktest.IsOp("setAuth"), zktest.Fate{Code: zktest.CodeAuthFailed})
		}, "authenticat", time.Second},
		"no servers":      {func(w *world, c *Config) { c.Servers = nil }, "no servers", 0},
		"bad server":      {func(w *world, c *Config) { c.Servers = []string{"a:b:c"} }, "a:b:c", 0},
		"bad root":        {func(w *world, c *Config) { c.Root = "locks" }, "absolute", 0},
		"bad root 2":      {func(w *world, c *Config) { c.Root = "/a//b" }, "empty", 0},
		"bad digest":      {func(w *world, c *Config) { c.Digest = "user" }, "user:password", 0},
		"bad naming":      {func(w *world, c *Config) { c.Naming = "curator" }, "curator", 0},
		"bad timeout":     {func(w *world, c *Config) { c.SessionTimeout = -1 }, "session timeout", 0},
		"root is no root": {func(w *world, c *Config) { w.ens.Create("/eph", nil, 7); c.Root = "/eph/x" }, "ephemeral", time.Second},
	} {
		t.Run(label, func(t *testing.T) {
			bubble(t, zktest.Config{}, func(w *world) {
				w.mod = func(c *Config) { test.mod(w, c) }
				start := time.Now()
				_, err := w.open(0)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "u:p") {
					t.Errorf("got %v, want something with %q", err, test.want)
				}
				if d := time.Since(start); d > test.in+2*time.Second {
					t.Errorf("after %v", d)
				}
			})
		})
	}
}

// One server of two says nothing: the other is found in a part of the session timeout.
func TestOpenPassesMuteServer(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.mod = func(c *Config) {
			dial := c.Dial
			c.Servers = []string{"mute:1", "s0:1"}
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr == "mute:1" {
					return mute(ctx)
				}
				return dial(ctx, network, addr)
			}
		}
		for n := range 4 {
			w.unlock(w.lock(n))
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
