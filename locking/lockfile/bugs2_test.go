package lockfile

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// put makes a file under the lock's name as the server has it.
func (w *world) put(data string) {
	w.Helper()
	obs := w.srv.Observer()
	if err := fsys.MkdirAll(obs, path.Dir(lockName())); err != nil {
		w.Fatal(err)
	}
	f, err := obs.OpenFile(lockName(), 0x41, 0o660) // O_WRONLY|O_CREAT
	if err != nil {
		w.Fatal(err)
	}
	if _, err := f.Write([]byte(data)); err != nil {
		w.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		w.Fatal(err)
	}
}

// A file that was never a lock is left alone, however old.
func TestBug11_ForeignFile(t *testing.T) {
	for name, data := range map[string]string{
		"text": "root: admin@example.org\n", "long": strings.Repeat(magic+"\n", 400), "other lock": "/var/lock/list.lock|host|1|2",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				w.put(data)
				time.Sleep(48 * time.Hour)
				if _, err := w.try(0); !errors.Is(err, locking.ErrNotALock) {
					t.Errorf("try: %v, want ErrNotALock", err)
				}
				if _, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive); !errors.Is(err, locking.ErrNotALock) {
					t.Errorf("lock: %v, want ErrNotALock", err)
				}
				if _, _, err := w.host(0).Steal(context.Background(), listKey); !errors.Is(err, locking.ErrNotALock) {
					t.Errorf("steal: %v, want ErrNotALock", err)
				}
				if got, err := fsys.ReadFile(w.srv.Observer(), lockName(), 1<<20); string(got) != data {
					t.Errorf("the file is now %q, %v", got, err)
				}
			})
		})
	}
	t.Run("folder", func(t *testing.T) {
		bubble(t, simfs.Config{}, func(w *world) {
			if err := fsys.MkdirAll(w.srv.Observer(), lockName()); err != nil {
				t.Fatal(err)
			}
			if _, err := w.try(0); !errors.Is(err, locking.ErrNotALock) {
				t.Errorf("try: %v, want ErrNotALock", err)
			}
		})
	})
}

// A lock whose record is empty, torn or zeros counts from its mtime for the default
// lifetime: it is neither removed at once nor there for ever.
func TestBug24_32_TornRecord(t *testing.T) {
	whole := string(record{Nonce: strings.Repeat("a", 32), Lifetime: time.Hour}.encode())
	for name, data := range map[string]string{
		"empty": "", "zeros": strings.Repeat("\x00", 300), "half": whole[:len(whole)/2],
		"magic only": magic[:5], "wrong sum": whole[:len(whole)-3] + "0\n",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				w.put(data)
				start := time.Now()
				le := w.until(0, 4*time.Minute)
				if d := time.Since(start); d < 100*time.Second || d > 130*time.Second {
					t.Errorf("taken over after %v, want the default lifetime and slop", d)
				}
				w.unlock(le)
				w.clean()
			})
		})
	}
}

// An incarnation is its nonce: a file number and a time that are used again are
// another lock.
func TestBug18_IdentityIsTheNonce(t *testing.T) {
	at := time.Unix(1e9, 0)
	a := sight{nonce: "a", ino: 7, mtime: at, valid: true}
	b := sight{nonce: "b", ino: 7, mtime: at, valid: true}
	if a.same(b) {
		t.Error("two nonces in one file number and tick pass for one lock")
	}
}

// A breaker that was stopped between its ticket and its rename, for so long that another
// went ahead, does not rename over the successor.
func TestBug17_20_LateBreaker(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.lock(0)
		w.host(0).Crash()
		stopped := make(chan struct{})
		var once atomic.Bool
		w.watched(1, fsys.Hook{Before: func(op, name string) error {
			if op == "link" && strings.HasPrefix(path.Base(name), kindSecond) && once.CompareAndSwap(false, true) {
				close(stopped)
				time.Sleep(10 * time.Minute)
			}
			return nil
		}})
		done := make(chan locking.Lease)
		go func() { done <- w.until(1, time.Hour) }()
		<-stopped
		le := w.until(2, 9*time.Minute) // by the second ticket
		time.Sleep(3 * time.Minute)
		if err := le.Verify(context.Background()); err != nil {
			t.Errorf("the successor after the late breaker woke up: %v", err)
		}
		time.Sleep(5 * time.Minute)
		w.unlock(le)
		w.unlock(<-done)
		w.clean()
	})
}

// A breaker that dies with its ticket keeps a lock of a short lifetime closed for as long
// again, not for a minute; one of a long lifetime for a minute.
func TestDeadBreakerOfAShortLock(t *testing.T) {
	for life, patience := range map[time.Duration]time.Duration{
		5 * time.Second: 15 * time.Second, 5 * time.Minute: time.Minute,
	} {
		bubble(t, simfs.Config{}, func(w *world) {
			w.mod = func(c *Config) { c.Lifetime = life }
			w.lock(0)
			w.host(0).Crash()
			w.watched(1, fsys.Hook{Before: func(op, _ string) error {
				if op == "rename" {
					w.host(1).Crash()
				}
				return nil
			}})
			_, _ = w.host(1).Lock(w.host(1).Context(), listKey, locking.Exclusive)
			start := time.Now()
			w.unlock(w.until(2, time.Hour))
			// The ticket is seen when the lock is watched for long enough.
			if d := time.Since(start); d < life+patience || d > life+patience+40*time.Second {
				t.Errorf("lifetime %v: taken over after %v", life, d)
			}
		})
	}
}

// Trouble of the share does not end the keeper; the lease is lost only at its deadline,
// and not after trouble that ends before.
func TestBug21_KeeperSurvives(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		time.Sleep(20 * time.Second)
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse})
		time.Sleep(50 * time.Second)
		w.srv.Heal()
		time.Sleep(10 * time.Minute)
		if err := le.Verify(context.Background()); err != nil {
			t.Errorf("after 50 s of trouble: %v", err)
		}
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse})
		time.Sleep(2 * time.Minute)
		if !errors.Is(context.Cause(le.Context()), locking.ErrLost) {
			t.Error("a lease that could not be refreshed for 2 minutes stands")
		}
		w.srv.Heal()
		if err := le.Verify(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("a deadline that passed was revived: %v", err)
		}
		if err := le.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v, want ErrLost", err)
		}
		w.clean() // it was still ours on the share, so it was given back
	})
}

// blind is an FS that does not see the lock in plain listings, as an NFSv3 client may
// not until the folder is touched.
type blind struct{ fsys.FS }

func (b blind) ReadDir(name string) ([]fsys.DirEntry, error) {
	list, err := b.FS.ReadDir(name)
	var out []fsys.DirEntry
	for _, e := range list {
		if e.Name != kindLock {
			out = append(out, e)
		}
	}
	return out, err
}

// A listing that misses a name that is there decides nothing.
func TestBug23_30_ListingMissesTheLock(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		h := w.host(0).Host
		l := w.locker("h0", 100, h, blind{h})
		le, err := l.Lock(context.Background(), listKey, locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if err := le.Verify(context.Background()); err != nil {
			t.Error(err)
		}
		w.unlock(le)
		w.clean()
	})
}

// A refresh touches our own file and makes, moves, removes or writes nothing.
func TestBug31_RefreshTouchesOnly(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		var on atomic.Bool
		l := w.watched(0, fsys.Hook{Before: func(op, name string) error {
			if on.Load() && op != "readdir" && (op != "touch" && op != "stat" || !strings.HasPrefix(path.Base(name), kindClaim)) {
				t.Errorf("a refresh calls %s %s", op, name)
			}
			return nil
		}})
		le, err := l.Lock(context.Background(), listKey, locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		on.Store(true)
		time.Sleep(time.Hour)
		on.Store(false)
		w.unlock(le)
		w.clean()
	})
}

// A suspended machine: timers stood still, the lease did not.
func TestBug29_Suspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asleep atomic.Int64
		w := newWorld(t, simfs.Config{}, func(c *Config) {
			mono := c.Mono
			c.Mono = func() time.Duration { return mono() + time.Duration(asleep.Load()) }
		})
		le := w.lock(0)
		time.Sleep(time.Minute)
		asleep.Add(int64(time.Hour))
		if err := le.Verify(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("verify after an hour's suspend: %v, want ErrLost", err)
		}
		le2 := w.host(0)
		_ = le.Unlock(context.Background())
		again, err := le2.Lock(context.Background(), listKey, locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		asleep.Add(int64(time.Hour))
		time.Sleep(10 * time.Second)
		if !errors.Is(context.Cause(again.Context()), locking.ErrLost) {
			t.Error("10 s after an hour's suspend the lease's context is still alive")
		}
	})
}

// A fence that takes longer than the lease lasts grants nothing.
func TestBug34_LostWhileFencing(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		var calls int
		fence := fenceFunc(func(ctx context.Context) (locking.Token, error) {
			if calls++; calls == 1 {
				w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse})
				time.Sleep(3 * time.Minute) // deaf to its context
				w.srv.Heal()
			}
			return locking.Token(calls), nil
		})
		le, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive, locking.WithFencer(fence))
		if err != nil {
			t.Fatal(err)
		}
		if le.Token() != 2 || le.Context().Err() != nil {
			t.Errorf("token %d, context %v: want a grant with a fence of its own", le.Token(), le.Context().Err())
		}
		w.unlock(le)
		w.clean()
	})
}

type fenceFunc func(context.Context) (locking.Token, error)

func (f fenceFunc) Fence(ctx context.Context) (locking.Token, error) { return f(ctx) }

// A remove whose answer is an error was perhaps done: it must not be repeated on a lock
// that somebody else has got meanwhile.
func TestBug35_RemoveAnsweredWithAnError(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "remove", Name: "lock", Nth: 1, Kind: simfs.DoneButError})
		got := make(chan locking.Lease)
		go func() {
			time.Sleep(10 * time.Millisecond) // while the first is at it
			got <- w.lock(1)
		}()
		w.unlock(le)
		next := <-got
		if err := next.Verify(context.Background()); err != nil {
			t.Errorf("the successor after the predecessor's second try: %v", err)
		}
		w.unlock(next)
		w.clean()
	})
}

// A lock that cannot be removed is marked, and taken over at the next examination.
func TestBug44_ReleaseFails(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "remove", Name: "lock", Kind: simfs.Refuse})
		if err := le.Unlock(context.Background()); !errors.Is(err, syscall.EIO) {
			t.Errorf("unlock: %v, want EIO", err)
		}
		w.unlock(w.until(1, 20*time.Second))
		if b := w.host(1).Stats().Breaks; b[Released] != 1 {
			t.Errorf("breaks %v, want one for %q", b, Released)
		}
		w.clean()
	})
}

// The lost answer of a link: the claim's two links count.
func TestLostAnswers(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(w *world) {
		for _, op := range []string{"link", "remove", "mkdir", "rename"} {
			w.srv.Inject(simfs.Fault{Host: "h0", Op: op, Kind: simfs.LostAnswer})
		}
		le, err := w.try(0)
		if err != nil {
			t.Fatalf("link done, answered EEXIST: %v", err)
		}
		w.unlock(le)
		if n := w.host(0).Stats().LostReplies; n != 2 { // the lock and its ticket
			t.Errorf("%d lost replies counted, want 2", n)
		}
		w.clean()
		w.lock(1)
		w.host(1).Crash()
		w.unlock(w.until(0, 4*time.Minute))
		w.clean()
	})
}
