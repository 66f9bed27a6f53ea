package lockfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// queued starts n goroutines on host 0 that take the lock once each, in order, and calls
// used for each while it holds it.
func (w *world) queued(n int, used func(i int, le locking.Lease), opts ...locking.Option) *sync.WaitGroup {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			le, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive, opts...)
			if err != nil {
				w.Errorf("goroutine %d: %v", i, err)
				return
			}
			used(i, le)
			w.unlock(le)
		})
		synctest.Wait()
	}
	return &wg
}

// The goroutines of a process hand the lock on in the order in which they came, each with
// a fence of its own, and make and remove it on the share once for a burst only.
func TestHandOver(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		f := &tally{}
		calls := map[string]int{}
		w.watched(0, fsys.Hook{Before: func(op, name string) error {
			if name == lockName() {
				calls[op]++
			}
			return nil
		}})
		first := w.lock(0, locking.WithFencer(f))
		var order []int
		last := first.Token()
		wg := w.queued(10, func(i int, le locking.Lease) {
			if order = append(order, i); le.Token() <= last {
				t.Errorf("goroutine %d has token %d after %d", i, le.Token(), last)
			}
			last = le.Token()
			if err := le.Verify(context.Background()); err != nil {
				t.Error(err)
			}
		}, locking.WithFencer(f))
		w.unlock(first)
		if err := first.Verify(context.Background()); !errors.Is(err, locking.ErrReleased) {
			t.Errorf("verify after the hand-over: %v", err)
		}
		wg.Wait()
		if !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("order %v", order)
		}
		if calls["link"] != 2 || calls["remove"] != 2 { // 11 grants, 8 a burst
			t.Errorf("calls on the lock's name: %v, want 2 links and 2 removes", calls)
		}
		if s := w.host(0).Stats(); s.Grants != 11 || s.Releases != 11 || s.HandOvers != 9 {
			t.Errorf("counted %+v", s)
		}
		w.clean()
	})
}

// A lock whose record says something else than the next one would is not handed on.
func TestHandOverOfTheSameOnly(t *testing.T) {
	for name, opt := range map[string]locking.Option{
		"note": locking.WithNote("x"), "lifetime": locking.WithLifetime(time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, simfs.Config{}, func(w *world) {
				first := w.lock(0)
				wg := w.queued(1, func(_ int, le locking.Lease) {
					r, err := w.host(1).Inspect(context.Background(), listKey)
					if want := le.(*Lease).claim.rec; err != nil || r.Holder.Note != want.Note || r.Holder.Until.Round(time.Second) != want.Lifetime {
						t.Errorf("%+v, %v", r, err)
					}
				}, opt)
				w.unlock(first)
				wg.Wait()
				if n := w.host(0).Stats().HandOvers; n != 0 {
					t.Errorf("%d hand-overs", n)
				}
				w.clean()
			})
		})
	}
}

// A process that always wants the lock again keeps no other host waiting for long.
func TestHandOverYields(t *testing.T) {
	bubble(t, simfs.Config{Latency: time.Millisecond}, func(w *world) {
		ctx, stop := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if le, err := w.host(0).Lock(ctx, listKey, locking.Exclusive); err == nil {
						time.Sleep(100 * time.Millisecond)
						w.unlock(le)
					}
				}
			})
		}
		time.Sleep(3 * time.Second)
		for range 20 {
			start := time.Now()
			w.unlock(w.until(1, time.Minute))
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("waited %v", d)
			}
		}
		stop()
		wg.Wait()
		if n := w.host(0).Stats().HandOvers; n == 0 {
			t.Error("nothing was handed over")
		}
		w.clean()
	})
}

// What was lost is not handed on.
func TestHandOverOfALostLock(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		first := w.lock(0)
		var next locking.Lease
		wg := w.queued(1, func(_ int, le locking.Lease) { next = le })
		thief, _, err := w.host(1).Steal(context.Background(), listKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v, want ErrLost", err)
		}
		time.Sleep(time.Minute)
		if next != nil {
			t.Error("the next goroutine has a lock that another host holds")
		}
		if err := thief.Verify(context.Background()); err != nil {
			t.Error(err)
		}
		w.unlock(thief)
		wg.Wait()
		w.clean()
	})
}

// The next one gives up at the moment when the lock is handed to it, or the share is in
// trouble then: it gets to the one after, and nothing stays.
func TestHandOverToOneWhoLeft(t *testing.T) {
	for n := 1; ; n++ {
		over := false
		for _, trouble := range []bool{false, true} {
			bubble(t, simfs.Config{}, func(w *world) {
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				calls, on := 0, false
				w.watched(0, fsys.Hook{Before: func(op, name string) error {
					if !on {
						return nil
					}
					if calls++; calls == n && trouble {
						return fmt.Errorf("%s %s: trouble", op, name)
					} else if calls == n {
						stop()
					}
					return nil
				}})
				first := w.lock(0)
				var wg sync.WaitGroup
				wg.Go(func() {
					if le, err := w.host(0).Lock(ctx, listKey, locking.Exclusive); err == nil {
						_ = le.Unlock(context.Background())
					}
				})
				synctest.Wait()
				got := false
				rest := w.queued(1, func(int, locking.Lease) { got, on = true, false })
				on = true
				_ = first.Unlock(context.Background())
				wg.Wait()
				rest.Wait()
				if !got {
					t.Errorf("call %d: the one after does not get it", n)
				}
				if !trouble {
					w.clean()
				}
				over = over || calls < n
			})
		}
		if over || t.Failed() {
			t.Logf("%d calls", n-1)
			return
		}
	}
}
