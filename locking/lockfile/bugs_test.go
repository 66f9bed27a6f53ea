package lockfile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/simfs"
)

// The tests named TestBugNN are each for an error that a lock of this kind has had
// somewhere; the number is its row in the catalogue of docs/locking.md.

// bubble runs f in a world of its own.
func bubble(t *testing.T, cfg simfs.Config, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, cfg, nil)) })
}

// try is TryLock by host n.
func (w *world) try(n int) (locking.Lease, error) {
	return w.host(n).TryLock(context.Background(), listKey, locking.Exclusive)
}

// until locks by host n within d, or ends the test.
func (w *world) until(n int, d time.Duration) locking.Lease {
	w.Helper()
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	le, err := w.host(n).Lock(ctx, listKey, locking.Exclusive)
	if err != nil {
		w.Fatalf("host %d did not get the lock in %v: %v", n, d, err)
	}
	return le
}

// watched puts a Locker with hooks on its calls on host n in the place of the plain one.
func (w *world) watched(n int, h fsys.Hook) *simLocker {
	host := w.host(n).Host
	w.at[n] = &simLocker{w.locker(host.Name(), 100+n, host, fsys.Observed(host, h)), host}
	return w.at[n]
}

func lockName() string { return "locks/" + string(listKey) + "/lock" }

// A claim is linked to the lock, never the other way round, and a lock is never seen
// without its whole record; waiters do not march in step.
func TestBug01_RecordBeforeNameAndJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var obs *simfs.Host
		random := simfs.Random(5)
		w := newWorld(t, simfs.Config{Latency: time.Millisecond, Scheduler: simfs.SchedulerFunc(func(c []simfs.Call) simfs.Pick {
			if data, err := fsys.ReadFile(obs, lockName(), maxRecord); err == nil {
				if _, err := decode(data); err != nil {
					t.Errorf("the lock's content is %q: %v", data, err)
				}
			}
			return random.Next(c)
		})}, nil)
		obs = w.srv.Observer()
		var wg sync.WaitGroup
		for n := range 4 {
			l := w.host(n)
			wg.Go(func() {
				for range 5 {
					if le, err := l.Lock(context.Background(), listKey, locking.Exclusive); err != nil {
						t.Error(err)
					} else {
						w.unlock(le)
					}
				}
			})
		}
		wg.Wait()
		w.clean()
		seen := map[time.Duration]bool{}
		for range 50 {
			d := w.host(0).jitter()
			if d < 680*time.Millisecond || d > 1320*time.Millisecond {
				t.Errorf("slept %v, want 1 s +/- 0.32 s", d)
			}
			seen[d] = true
		}
		if len(seen) < 45 {
			t.Errorf("only %d different sleeps of 50", len(seen))
		}
	})
}

// The holder lets go between our failed link and our look: that is a free lock, not a
// stale one.
func TestBug02_03_GoneWhileExamined(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		w.watched(1, fsys.Hook{Before: func(op, name string) error {
			if op == "open" && name == lockName() && le != nil {
				w.unlock(le)
				le = nil
			}
			return nil
		}})
		got, err := w.try(1)
		if err != nil {
			t.Fatalf("try: %v", err)
		}
		if n := len(w.host(1).Stats().Breaks); n != 0 {
			t.Errorf("%d kinds of breaks, want none", n)
		}
		w.unlock(got)
	})
}

// ESTALE stands for ENOENT, and passes; other trouble is waited out, as long as the
// context lasts.
func TestBug04_05_22_TroublePasses(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ESTALE, syscall.EIO, syscall.ETIMEDOUT} {
		for _, op := range []string{"open", "link", "touch", "stat", "dirreaddir", "readdir"} {
			bubble(t, simfs.Config{}, func(w *world) {
				le := w.lock(0)
				w.srv.Inject(simfs.Fault{Host: "h1", Op: op, Name: "lock*", Nth: 1, Kind: simfs.Refuse, Errno: errno},
					simfs.Fault{Host: "h1", Op: op, Name: "claim*", Nth: 2, Kind: simfs.Refuse, Errno: errno})
				time.AfterFunc(30*time.Second, func() { w.unlock(le) })
				w.unlock(w.until(1, time.Minute))
				w.clean()
			})
		}
	}
	bubble(t, simfs.Config{}, func(w *world) {
		w.srv.Inject(simfs.Fault{Host: "h1", Op: "link", Kind: simfs.Refuse})
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if _, err := w.host(1).Lock(ctx, listKey, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("EIO without end: %v, want DeadlineExceeded", err)
		}
		w.clean()
	})
}

// What waiting cannot mend is an error at once, and nothing stays.
func TestHopelessErrors(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EROFS, syscall.ENOSPC, syscall.EXDEV} {
		bubble(t, simfs.Config{}, func(w *world) {
			w.srv.Inject(simfs.Fault{Op: "link", Kind: simfs.Refuse, Errno: errno})
			if _, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive); !errors.Is(err, errno) {
				t.Errorf("link fails with %v: %v", errno, err)
			}
			w.clean()
		})
	}
}

// Death on another host is never inferred from a process number there.
func TestBug07_OtherHostsPid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simfs.Config{}, func(c *Config) {
			c.Proc = func(int) (uint64, error) { return 0, hosts.ErrNoProcess }
			c.Host.Boot = "same"
		})
		le := w.lock(0)
		for range 120 {
			if _, err := w.try(1); err == nil {
				t.Fatal("took the lock of a process on another host")
			}
			time.Sleep(time.Second)
		}
		w.unlock(le)
	})
}

// A process of this machine that was killed does not block it for a lifetime; one whose
// number was given to another neither.
func TestBug09_12_25_DeadOnThisHost(t *testing.T) {
	procs := map[string]hosts.Proc{
		"gone":   func(int) (uint64, error) { return 0, hosts.ErrNoProcess },
		"reused": func(int) (uint64, error) { return 4711, nil },
	}
	for name, proc := range procs {
		t.Run(name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				h := w.host(0).Host
				dead := w.locker("h0", 50, h, h)
				if _, err := dead.Lock(context.Background(), listKey, locking.Exclusive); err != nil {
					t.Fatal(err)
				}
				w.mod = func(c *Config) { c.Proc = proc }
				le, err := w.locker("h0", 51, h, h).TryLock(context.Background(), listKey, locking.Exclusive)
				if err != nil {
					t.Fatalf("the first TryLock after a crash on this host: %v", err)
				}
				if err := le.Verify(context.Background()); err != nil {
					t.Error(err)
				}
				w.unlock(le)
				w.clean()
			})
		})
	}
}

// Looking has no effect.
func TestBug10_InspectChangesNothing(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0, locking.WithNote("a note"))
		time.Sleep(5 * time.Second)
		obs := w.srv.Observer()
		snapshot := func() (s []fsys.Info) {
			for _, n := range append(w.files(), ".") {
				st, err := obs.Stat(strings.TrimSuffix("locks/"+string(listKey)+"/"+n, "/."))
				if err != nil {
					t.Fatal(err)
				}
				s = append(s, st)
			}
			return s
		}
		before := snapshot()
		r, err := w.host(1).Inspect(context.Background(), listKey)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := w.host(1).List(context.Background())
		if err != nil || !slices.Equal(keys, []locking.Key{listKey}) {
			t.Errorf("list: %v, %v", keys, err)
		}
		if after := snapshot(); !slices.Equal(before, after) {
			t.Errorf("inspection changed\n%+v to\n%+v", before, after)
		}
		if r.State != locking.StateHeld || r.Holder.Host != "h0" || r.Holder.Note != "a note" || r.Age.Round(time.Second) != 5*time.Second {
			t.Errorf("report: %+v", r)
		}
		w.unlock(le)
	})
}

// A break is told only when it has happened.
func TestBug13_NoBreakNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken int
		w := newWorld(t, simfs.Config{}, func(c *Config) {
			c.Observe = func(e Event) {
				if e.Kind == EventBroken {
					broken++
				}
			}
		})
		w.lock(0)
		w.host(0).Crash()
		w.srv.Inject(simfs.Fault{Op: "rename", Kind: simfs.Refuse})
		ctx, stop := context.WithTimeout(context.Background(), 4*time.Minute)
		defer stop()
		if _, err := w.host(1).Lock(ctx, listKey, locking.Exclusive); err == nil {
			t.Fatal("got the lock without a rename")
		}
		if broken != 0 {
			t.Errorf("%d breaks told, none happened", broken)
		}
		w.srv.Heal()
		w.unlock(w.until(1, 4*time.Minute))
		if broken != 1 || w.host(1).Stats().Breaks[Expired] != 1 {
			t.Errorf("%d breaks told, %v counted, want one", broken, w.host(1).Stats().Breaks)
		}
		w.clean()
	})
}

// The limits are those that are documented: nobody breaks before lifetime and slop are
// over, and somebody does soon after.
func TestBug14_15_28_LimitsByTheServersClock(t *testing.T) {
	for name, offset := range map[string]time.Duration{"in step": 0, "ahead": 5 * time.Hour, "behind": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				w.srv.SetClock(offset)
				w.host(1).SetClock(-offset)
				w.lock(0)
				w.host(0).Crash()
				start := time.Now()
				le := w.until(1, 4*time.Minute)
				if d := time.Since(start); d < 100*time.Second || d > 130*time.Second {
					t.Errorf("taken over after %v, want lifetime 90 s, slop 10 s and two examinations", d)
				}
				w.unlock(le)
			})
		})
	}
	for name, jump := range map[string]time.Duration{"forward": 30 * time.Minute, "back": -30 * time.Minute} {
		t.Run("jump "+name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				le := w.lock(0)
				time.AfterFunc(20*time.Second, func() { w.srv.SetClock(jump) })
				ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
				defer stop()
				if _, err := w.host(1).Lock(ctx, listKey, locking.Exclusive); err == nil {
					t.Error("a jump of the server's clock broke a live lock")
				}
				w.unlock(le)
			})
		})
	}
}
