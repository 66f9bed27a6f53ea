package zklock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

// Whoever holds the lock and reads inside queues up behind the writer that waits already:
// there is no way down from a writer to a reader.
func TestReaderInsideWriterQueuesUp(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		if _, err := w.host(0).TryLock(context.Background(), listKey, locking.Shared); !isHeld(err) {
			t.Errorf("try to read inside: %v", err)
		}
		writer := w.lockLater(context.Background(), 1, locking.Exclusive)
		reader := w.lockLater(context.Background(), 0, locking.Shared)
		w.unlock(le)
		second := w.got(writer, time.Second)
		synctest.Wait()
		select {
		case r := <-reader:
			t.Fatalf("the reader overtook the writer: %+v", r)
		default:
		}
		w.unlock(second)
		w.unlock(w.got(reader, time.Second))
		w.clean()
	})
}

// A reader waits for writers before it, and for none behind it.
func TestReaderDoesNotWaitForLaterWriter(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		first := w.lock(0)
		reader := w.lockLater(context.Background(), 1, locking.Shared)
		later := w.lockLater(context.Background(), 2, locking.Exclusive)
		w.unlock(first)
		le := w.got(reader, time.Second)
		w.unlock(le)
		w.unlock(w.got(later, time.Second))
		w.clean()
	})
}

// A release that no server hears of for a while is done as soon as one does.
func TestReleaseWhileCutOff(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		w.host(0).link.Cut()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if err := le.Unlock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("unlock: %v", err)
		}
		if d := time.Since(start); d > time.Second+timeout/beatParts {
			t.Errorf("unlock came back after %v", d)
		}
		if n := w.nodes(); len(n) != 2 {
			t.Errorf("nodes %q", n)
		}
		w.host(0).link.Heal()
		w.unlock(w.got(next, timeout/3))
		w.clean()
	})
}

// Without a deadline a release waits for a session timeout at most, once the lease is over.
func TestReleaseWithoutDeadline(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		w.host(0).link.Cut()
		time.Sleep(timeout)
		start := time.Now()
		if err := le.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
		if d := time.Since(start); d > timeout {
			t.Errorf("unlock came back after %v", d)
		}
	})
}

// Taking, trying, giving and taking again, in one process: nothing spins, and nothing of a
// former round is in the way of the next.
func TestTryAndTakeAgain(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		l, ctx := w.host(0), context.Background()
		for range 3 {
			le := w.lock(0)
			before := w.ens.Calls("create")
			for range 5 {
				if _, err := l.TryLock(ctx, listKey, locking.Exclusive); !isHeld(err) {
					t.Errorf("try of a lock of our own: %v", err)
				}
			}
			if n := w.ens.Calls("create") - before; n != 0 || len(w.nodes()) != 1 {
				t.Errorf("tries made %d nodes; there are %q", n, w.nodes())
			}
			w.unlock(le)
			if err := le.Unlock(ctx); !errors.Is(err, locking.ErrReleased) {
				t.Errorf("second unlock: %v", err)
			}
			again, err := l.TryLock(ctx, listKey, locking.Exclusive)
			if err != nil {
				t.Fatal(err)
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			if _, err := l.Lock(short, listKey, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("lock of a lock of our own: %v", err)
			}
			cancel()
			w.unlock(again)
			w.clean()
		}
	})
}

// TestTableNamesTests: the tests that the manual names are there.
func TestTableNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/zookeeper.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", "../../cmd/qrunner/e2e/*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(b)
		}
	}
	names := regexp.MustCompile(`\bTest[A-Z]\w+(/\w+)*`).FindAllString(string(text), -1)
	if len(names) < 16 {
		t.Errorf("the manual names %d tests", len(names))
	}
	for _, name := range names {
		f, sub, _ := strings.Cut(name, "/")
		if !strings.Contains(code.String(), "func "+f+"(") || sub != "" && !strings.Contains(code.String(), `"`+filepath.Base(sub)+`"`) {
			t.Errorf("docs/zookeeper.md names %s, which is not there", name)
		}
	}
}
