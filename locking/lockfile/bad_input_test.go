package lockfile

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// A lock that we may not read is held, whatever its age: it is neither broken nor
// waited for longer than asked, and an operator is told why.
func TestUnreadableLock(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EPERM} {
		bubble(t, simfs.Config{}, func(w *world) {
			w.put(string(record{Nonce: strings.Repeat("a", 32), Lifetime: time.Minute}.encode()))
			time.Sleep(48 * time.Hour)
			w.srv.Inject(simfs.Fault{Host: "h1", Op: "open", Name: "lock", Kind: simfs.Refuse, Errno: errno})
			for range 30 {
				if _, err := w.try(1); !isHeld(err) {
					t.Fatalf("try: %v, want ErrHeld", err)
				}
				time.Sleep(10 * time.Second)
			}
			ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
			defer stop()
			if _, err := w.host(1).Lock(ctx, listKey, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("lock: %v, want DeadlineExceeded", err)
			}
			if _, err := w.host(1).Inspect(context.Background(), listKey); !errors.Is(err, errno) {
				t.Errorf("inspect: %v, want %v", err, errno)
			}
			if _, _, err := w.host(1).Steal(context.Background(), listKey); !errors.Is(err, errno) {
				t.Errorf("steal: %v, want %v", err, errno)
			}
			if got := w.files(); !slices.Equal(got, []string{kindLock}) {
				t.Errorf("files %q, want the lock alone", got)
			}
		})
	}
}

// A file system without hard links, or one where the folder's names are on several, is
// told at once, by the error that it gave; nothing stays.
func TestNoHardLinks(t *testing.T) {
	for _, errno := range []syscall.Errno{
		syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS, syscall.EMLINK, syscall.EXDEV, syscall.EINVAL,
	} {
		for name, get := range map[string]func(*world) error{
			"lock": func(w *world) error {
				_, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive)
				return err
			},
			"try":   func(w *world) error { _, err := w.try(0); return err },
			"steal": func(w *world) error { _, _, err := w.host(0).Steal(context.Background(), listKey); return err },
			"break": func(w *world) error { _, err := w.host(0).Break(context.Background(), listKey); return err },
		} {
			bubble(t, simfs.Config{}, func(w *world) {
				w.srv.Inject(simfs.Fault{Op: "link", Kind: simfs.Refuse, Errno: errno})
				start := time.Now()
				if err := get(w); !errors.Is(err, errno) || time.Since(start) > time.Second {
					t.Errorf("%s where link answers %v: %v, after %v", name, errno, err, time.Since(start))
				}
				w.clean()
			})
		}
	}
}

// The longest key and host name make file names within NAME_MAX that read back; "/" in a
// key is a folder, and what cannot be a name is refused.
func TestLongestNames(t *testing.T) {
	long := strings.Repeat("k", 128)
	for _, plain := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, simfs.Config{}, func(c *Config) {
				c.Host.Host, c.Host.PID, c.Plain = strings.Repeat("h", 64), 1<<31-1, plain
			})
			for _, key := range []locking.Key{locking.Key(long), locking.Key("out/" + long + "/" + long)} {
				if plain && strings.Contains(string(key), "/") {
					continue
				}
				l := w.watched(0, fsys.Hook{Before: func(_, name string) error {
					if n := len(path.Base(name)); n > 255 {
						t.Errorf("a name of %d octets: %s", n, name)
					}
					return nil
				}})
				if plain {
					if err := fsys.MkdirAll(w.srv.Observer(), "locks"); err != nil {
						t.Fatal(err)
					}
				}
				p, err := l.paths(key)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{l.private(p, kindSecond), p.ticket(strings.Repeat("f", 32), maxTakeovers)} {
					if f, ok := p.parse(path.Base(name)); !ok || len(path.Base(name)) > 255 {
						t.Errorf("%s: %+v, %v", name, f, ok)
					}
				}
				le, err := l.Lock(context.Background(), key, locking.Exclusive)
				if err != nil {
					t.Fatal(err)
				}
				w.unlock(le)
			}
			for _, key := range []locking.Key{locking.Key(long + "k"), "", "/", "a//b", "/a", "a/", "..", "a/../b", "a\x00b", "a\nb"} {
				if _, err := w.host(0).TryLock(context.Background(), key, locking.Exclusive); err == nil {
					t.Errorf("key %q was locked", key)
				}
			}
		})
	}
}

// A lifetime of nothing, less, or more than a day is refused before anything is made.
func TestBadLifetimes(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, -1, 1, time.Millisecond - 1, 24*time.Hour + 1} {
		bubble(t, simfs.Config{}, func(w *world) {
			if _, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive, locking.WithLifetime(d)); err == nil {
				t.Errorf("lifetime %v: granted", d)
			}
			if _, err := w.host(0).TryLock(context.Background(), listKey, locking.Exclusive, locking.WithLifetime(d)); err == nil {
				t.Errorf("lifetime %v: granted by TryLock", d)
			}
			w.clean()
			c := w.host(0).cfg
			if c.Lifetime = d; c.check() == nil {
				t.Errorf("lifetime %v is taken for a Locker's own", d)
			}
			if c.Lifetime = 0; c.check() == nil {
				t.Error("a Locker without a lifetime")
			}
		})
	}
	bubble(t, simfs.Config{}, func(w *world) { // 0 is the Locker's own
		le := w.lock(0, locking.WithLifetime(0))
		if le.claim.rec.Lifetime != 90*time.Second {
			t.Errorf("lifetime %v", le.claim.rec.Lifetime)
		}
		w.unlock(le)
	})
}

// Who waited in vain is told who has it.
func TestTimeoutNamesTheHolder(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0, locking.WithNote("busy"))
		ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
		defer stop()
		_, err := w.host(1).Lock(ctx, listKey, locking.Exclusive)
		var held *locking.HeldError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &held) ||
			held.By.Host != "h0" || held.By.Note != "busy" || held.By.Since.IsZero() {
			t.Errorf("%v", err)
		}
		w.unlock(le)
		w.clean()
	})
}
