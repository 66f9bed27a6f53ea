package lockfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// plainWorld is hosts whose locks are plain files in the root of the share.
func plainWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	plain := func(c *Config) { c.Plain, c.Root = true, "." }
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, simfs.Config{Version: simfs.V3}, plain)) })
}

func (w *world) root() (names []string) {
	w.Helper()
	list, err := w.srv.Observer().ReadDir(".")
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// A plain lock has the very name that was asked for, beside files of others, and
// everything works as in a folder of its own: waiting, breaking, sweeping.
func TestPlain(t *testing.T) {
	plainWorld(t, func(w *world) {
		w.put2("inbox")
		w.put2("claim.h9.7.0123456789abcdef")        // not ours in a plain folder
		w.put2(".inbox.lock2.claim.h9.7.0123456789") // of nobody
		others := w.root()
		le, err := w.host(0).Lock(context.Background(), "inbox.lock", locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := w.srv.Observer().Stat("inbox.lock"); err != nil || st.Nlink != 2 {
			t.Errorf("inbox.lock: %+v, %v", st, err)
		}
		if _, err := w.host(1).TryLock(context.Background(), "inbox.lock", locking.Exclusive); !isHeld(err) {
			t.Errorf("a second one: %v", err)
		}
		r, err := w.host(1).Inspect(context.Background(), "inbox.lock")
		if err != nil || r.State != locking.StateHeld || r.Holder.Host != "h0" {
			t.Errorf("inspect: %+v, %v", r, err)
		}
		w.unlock(le)
		if d := cmp.Diff(others, w.root()); d != "" {
			t.Errorf("files afterwards (-want +got):\n%s", d)
		}
		if _, err := w.host(0).Lock(context.Background(), "inbox.lock", locking.Exclusive); err != nil {
			t.Fatal(err)
		}
		w.host(0).Crash()
		le, err = w.host(1).Lock(context.Background(), "inbox.lock", locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		w.unlock(le)
		if d := cmp.Diff(others, w.root()); d != "" {
			t.Errorf("files after a break (-want +got):\n%s", d)
		}
	})
}

func TestPlainRefuses(t *testing.T) {
	plainWorld(t, func(w *world) {
		for _, k := range []locking.Key{"a/b", "", "..", "."} {
			if _, err := w.host(0).TryLock(context.Background(), k, locking.Exclusive); err == nil {
				t.Errorf("lock %q: granted", k)
			}
		}
		if _, err := w.host(0).List(context.Background()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("list: %v", err)
		}
	})
}

// A folder that is not there is not made for a plain lock.
func TestPlainMakesNoFolder(t *testing.T) {
	dir := t.TempDir()
	l := realLocker(t, dir, "")
	l.cfg.Plain, l.cfg.Root = true, "missing"
	if _, err := l.TryLock(t.Context(), "x", locking.Exclusive); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lock: %v, want ErrNotExist", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
		t.Error("the folder was made")
	}
}

// Content that is no record, but could have been one that was torn, counts as a lock
// of the default lifetime: it is taken over once, by one.
func TestPlainTorn(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "cut": magic + "\nhost h", "zeros": "\x00\x00\x00"} {
		t.Run(name, func(t *testing.T) {
			plainWorld(t, func(w *world) {
				err := fsys.WriteNew(w.srv.Observer(), "x.lock", func(f io.Writer) error {
					_, err := io.WriteString(f, text)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan time.Duration, 2)
				start := time.Now()
				for n := range 2 {
					go func() {
						le, err := w.host(n).Lock(context.Background(), "x.lock", locking.Exclusive)
						if err != nil {
							t.Error(err)
						}
						done <- time.Since(start)
						w.unlock(le)
						done <- 0
					}()
				}
				if d := <-done; d < 90*time.Second || d > 3*time.Minute {
					t.Errorf("taken over after %v", d)
				}
				for range 3 {
					<-done
				}
				if n := w.host(0).Stats().Breaks[Expired] + w.host(1).Stats().Breaks[Expired]; n != 1 {
					t.Errorf("broken %d times", n)
				}
			})
		})
	}
}
