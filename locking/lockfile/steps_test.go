package lockfile

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// The context ends at each call in turn: the error wins, and nothing stays.
func TestBug36_43_CancelAtEachCall(t *testing.T) {
	for n := 1; ; n++ {
		over := false
		bubble(t, simfs.Config{}, func(w *world) {
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			calls := 0
			l := w.watched(0, fsys.Hook{Before: func(string, string) error {
				if calls++; calls == n {
					stop()
				}
				return nil
			}})
			le, err := l.Lock(ctx, listKey, locking.Exclusive)
			switch {
			case err == nil && calls < n:
				over = true
				w.unlock(le)
			case !errors.Is(err, context.Canceled):
				t.Errorf("cancelled at call %d: %v, want Canceled", n, err)
			}
			w.clean()
			if got := l.Stats().Grants; err != nil && got != 0 {
				t.Errorf("cancelled at call %d: %d grants", n, got)
			}
		})
		if over || t.Failed() {
			t.Logf("%d calls", n-1)
			return
		}
	}
}

// The link was done, nobody could see it, and then the caller gave up.
func TestBug37_UnseenGrantIsGivenBack(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse})
		ctx, stop := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Second, func() {
			w.srv.Heal()
			stop()
		})
		var err error
		for ctx.Err() == nil && err == nil {
			_, err = w.host(0).Lock(ctx, listKey, locking.Exclusive)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("lock: %v, want Canceled", err)
		}
		w.clean()
	})
}

// Hosts die at each of their changing calls, as holder, as breaker of the former's lock
// and at the release: the others get through, in bounded time.
func TestBug26_CrashAtEachCall(t *testing.T) {
	for n := 1; ; n++ {
		over := false
		bubble(t, simfs.Config{CrashAt: n}, func(w *world) {
			use := func(host int) bool {
				h := w.host(host)
				ctx, stop := context.WithTimeout(h.Context(), 10*time.Minute)
				defer stop()
				le, err := h.Lock(ctx, listKey, locking.Exclusive)
				if err == nil {
					err = le.Unlock(ctx)
				}
				return err == nil
			}
			if le, err := w.host(0).Lock(w.host(0).Context(), listKey, locking.Exclusive); err == nil {
				w.host(0).Crash()
				<-le.Context().Done()
			}
			if over = use(1); over {
				return
			}
			for host := 2; host < 4; host++ {
				if !use(host) {
					t.Errorf("host %d does not get through", host)
				}
			}
		})
		if over && n > 10 || t.Failed() {
			t.Logf("%d changing calls", n-1)
			return
		}
	}
}

// What a waiter costs the share: a link for each sleep, and less than a call a second
// beside it.
func TestWaiterIsCheap(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		calls := map[string]int{}
		l := w.watched(1, fsys.Hook{Before: func(op, _ string) error {
			calls[op]++
			return nil
		}})
		ctx, stop := context.WithTimeout(context.Background(), time.Hour)
		defer stop()
		if _, err := l.Lock(ctx, listKey, locking.Exclusive); err == nil {
			t.Error("granted")
		}
		others := 0
		for op, n := range calls {
			if op != "link" {
				others += n
			}
		}
		t.Logf("in an hour: %v", calls)
		if n := calls["link"]; n < 3000 || n > 4000 || others > 2400 {
			t.Errorf("%d links and %d other calls in an hour", n, others)
		}
		w.unlock(le)
	})
}

// step is a changing call, and the links of the caller's claim after it.
type step struct {
	Call  string
	Links uint64
}

// TestLinkCounts asserts the table in the package comment.
func TestLinkCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		w := newWorld(t, simfs.Config{}, nil)
		obs := w.srv.Observer()
		claim := ""
		l := w.watched(0, fsys.Hook{After: func(op, name string, err error) error {
			base, _, _ := strings.Cut(path.Base(name), ".")
			if base == kindClaim && op == "open" {
				claim = name
			}
			if !slices.Contains([]string{"open", "link", "rename", "remove"}, op) || op == "open" && base == kindLock {
				return err
			}
			st, serr := obs.Stat(claim)
			if serr != nil {
				st.Nlink = 0
			}
			answer := ""
			if err != nil {
				answer = " fails"
			}
			steps = append(steps, step{op + " " + base + answer, st.Nlink})
			return err
		}})
		take := func(want ...step) {
			t.Helper()
			if d := cmp.Diff(want, steps); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
			steps = nil
		}
		release := []step{{"open tk", 2}, {"link ticket", 2}, {"remove lock", 1}, {"remove ticket", 1}, {"remove tk", 1}, {"remove claim", 0}}
		mk := func(s ...step) []step { return append(s, release...) }

		le, err := l.Lock(context.Background(), listKey, locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := le.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.unlock(le)
		// The first claim finds no folder.
		take(mk(step{"open claim fails", 0}, step{"open claim", 1}, step{"link lock", 2})...)

		held := w.lock(1)
		if _, err := l.TryLock(context.Background(), listKey, locking.Exclusive); !isHeld(err) {
			t.Fatal(err)
		}
		take(step{"open claim", 1}, step{"link lock fails", 1}, step{"remove claim", 0})

		_ = held
		w.host(1).Crash()
		stolen, _, err := l.Steal(context.Background(), listKey)
		if err != nil {
			t.Fatal(err)
		}
		w.unlock(stolen)
		take(mk(step{"open tk", 0}, step{"remove tk", 0}, // the server's time, for the report
			step{"open claim", 1}, step{"link lock fails", 1}, step{"open tk", 1}, step{"link ticket", 1},
			step{"link lock fails", 1}, step{"link second", 2}, step{"rename lock", 2}, step{"remove second fails", 2},
			step{"remove claim", 2}, step{"remove ticket", 2}, step{"remove tk", 2})...)
	})
}
