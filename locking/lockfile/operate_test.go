package lockfile

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/simfs"
)

// A lock is stolen on a host where a process has it open: the rename over it leaves the
// old file, and the robbed claim its two links. The listing tells the truth.
func TestReview22_SillyRename(t *testing.T) {
	for _, v := range []simfs.Version{simfs.V3, simfs.V42} {
		bubble(t, simfs.Config{Version: v}, func(w *world) {
			ctx := context.Background()
			old := w.lock(0)
			f, err := w.host(1).OpenFile(lockName(), os.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w.srv.Inject(simfs.Fault{Host: "h1", Op: "remove", Name: "claim.h0.*", Kind: simfs.Refuse})
			le, _, err := w.host(1).Steal(ctx, listKey)
			if err != nil {
				t.Fatal(err)
			}
			if st, err := w.srv.Observer().Stat(old.claim.name); err != nil || st.Nlink != 2 {
				t.Errorf("the robbed claim has %d links, %v; the test wants the case of two", st.Nlink, err)
			}
			if err := old.Verify(ctx); !errors.Is(err, locking.ErrLost) {
				t.Errorf("the robbed holder's verify: %v, want ErrLost", err)
			}
			if err := old.Unlock(ctx); !errors.Is(err, locking.ErrLost) {
				t.Errorf("the robbed holder's unlock: %v, want ErrLost", err)
			}
			if err := le.Verify(ctx); err != nil {
				t.Errorf("the thief: %v", err)
			}
			w.unlock(le)
		})
	}
}

// The keeper notices a theft by itself.
func TestStealFromTheLiving(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		ctx := context.Background()
		old := w.lock(0)
		le, r, err := w.host(1).Steal(ctx, listKey, locking.WithNote("maintenance"))
		if err != nil {
			t.Fatal(err)
		}
		if r.State != locking.StateHeld || r.Holder.Host != "h0" {
			t.Errorf("report: %+v", r)
		}
		time.Sleep(20 * time.Second)
		if !errors.Is(context.Cause(old.Context()), locking.ErrLost) {
			t.Error("a refresh later the robbed holder does not know")
		}
		if err := old.Unlock(ctx); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v, want ErrLost", err)
		}
		if s := w.host(1).Stats(); s.Steals != 1 {
			t.Errorf("%d steals counted", s.Steals)
		}
		w.unlock(le)
		w.clean()
	})
}

// Two operators steal at once: one gets it, the other an error.
func TestStealLost(t *testing.T) {
	bubble(t, simfs.Config{Scheduler: simfs.Random(4), Latency: time.Millisecond}, func(w *world) {
		w.lock(0)
		type result struct {
			le  locking.Lease
			err error
		}
		done := make(chan result, 2)
		for n := 1; n <= 2; n++ {
			go func() {
				le, _, err := w.host(n).Steal(context.Background(), listKey)
				done <- result{le, err}
			}()
		}
		a, b := <-done, <-done
		if a.err != nil {
			a, b = b, a
		}
		if a.err != nil || !errors.Is(b.err, locking.ErrStealLost) {
			t.Fatalf("two thieves: %v and %v, want one ErrStealLost", a.err, b.err)
		}
		w.unlock(a.le)
	})
}

func TestBreak(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		ctx := context.Background()
		if r, err := w.host(1).Break(ctx, listKey); err != nil || r.State != locking.StateFree {
			t.Errorf("break a free lock: %v, %v", r.State, err)
		}
		le := w.lock(0)
		if _, err := w.host(1).Break(ctx, listKey); !isHeld(err) {
			t.Errorf("break a live lock: %v, want ErrHeld", err)
		}
		if err := le.Verify(ctx); err != nil {
			t.Errorf("after an operator's break: %v", err)
		}
		w.host(0).Crash()
		time.Sleep(time.Hour)
		r, err := w.host(1).Inspect(ctx, listKey)
		if err != nil || r.State != locking.StateStale || r.Reason != string(Expired) {
			t.Errorf("inspect a lock of an hour: %+v, %v", r, err)
		}
		// Two of them at once (27): both find it gone afterwards, none breaks a live one.
		done := make(chan error, 2)
		for n := 1; n <= 2; n++ {
			go func() {
				_, err := w.host(n).Break(ctx, listKey)
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil && !isHeld(err) {
				t.Errorf("break: %v", err)
			}
		}
		w.clean()
	})
}

// What crashes leave is swept by a later holder; what is not ours stays.
func TestSweep(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		le := w.lock(0)
		ctx, stop := context.WithCancel(context.Background())
		go func() { _, _ = w.host(1).Lock(ctx, listKey, locking.Exclusive) }()
		time.Sleep(5 * time.Second)
		w.host(1).Crash()
		stop()
		w.put2("locks/" + string(listKey) + "/.nfs0001")
		w.put2("locks/" + string(listKey) + "/README")
		w.put2("locks/" + string(listKey) + "/ticket.0123456789abcdef0123456789abcdef.3")
		w.unlock(le)
		w.unlock(w.lock(2))
		if n := len(w.files()); n != 4 {
			t.Errorf("%d files, want the claim, the ticket and two strangers: %q", n, w.files())
		}
		time.Sleep(25 * time.Hour)
		w.unlock(w.lock(2))
		if got := w.files(); len(got) != 2 {
			t.Errorf("after a day: %q, want the two strangers", got)
		}
	})
}

// A sweep that takes longer than the lease: the lock is not handed out any more.
func TestStallInSweep(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		f := &tally{}
		w.unlock(w.lock(0))
		w.put2("locks/" + string(listKey) + "/claim.h9.7.0123456789abcdef")
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "stat", Name: "claim.h9.*", Nth: 1, Kind: simfs.Stall, Delay: 10 * time.Minute})
		got := make(chan locking.Token, 1)
		go func() {
			le, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive, locking.WithFencer(f))
			if err != nil {
				t.Error(err)
			}
			w.unlock(le)
			got <- le.Token()
		}()
		time.Sleep(time.Second)
		w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse}) // no refresh
		le := w.lock(1, locking.WithFencer(f))
		w.srv.Heal()
		w.unlock(le)
		if late := <-got; late <= le.Token() {
			t.Errorf("token %d was handed out after %d", late, le.Token())
		}
	})
}

// So it is if the share stalls while the remains of a broken lock are cleared away.
func TestStallInClearingAway(t *testing.T) {
	for _, name := range []string{"claim.h9.*", "ticket*", "tk*"} {
		bubble(t, simfs.Config{}, func(w *world) {
			f := &tally{}
			w.lock(9)
			w.host(9).Crash()
			w.srv.Inject(simfs.Fault{Host: "h0", Op: "remove", Name: name, Nth: 1, Kind: simfs.StallAnswer, Delay: 10 * time.Minute})
			got := make(chan locking.Token, 1)
			go func() {
				le, err := w.host(0).Lock(context.Background(), listKey, locking.Exclusive, locking.WithFencer(f))
				if err != nil {
					t.Error(err)
				}
				got <- le.Token()
				w.unlock(le)
			}()
			time.Sleep(3 * time.Minute) // broken
			w.srv.Inject(simfs.Fault{Host: "h0", Op: "touch", Kind: simfs.Refuse})
			le := w.lock(1, locking.WithFencer(f))
			select {
			case early := <-got:
				t.Errorf("%s: token %d was handed out before it was clear to be lost", name, early)
			default:
			}
			w.srv.Heal()
			w.unlock(le)
			if late := <-got; late <= le.Token() {
				t.Errorf("%s: token %d was handed out after %d", name, late, le.Token())
			}
		})
	}
}

func (w *world) put2(name string) {
	f, err := w.srv.Observer().OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o660)
	if err != nil {
		w.Fatal(err)
	}
	_ = f.Close()
}

// A process that takes a list again and again does not starve another host.
func TestFairToOtherHosts(t *testing.T) {
	bubble(t, simfs.Config{Latency: time.Millisecond, Scheduler: simfs.Random(6)}, func(w *world) {
		ctx, stop := context.WithCancel(context.Background())
		for range 3 {
			go func() {
				for ctx.Err() == nil {
					if le, err := w.host(0).Lock(ctx, listKey, locking.Exclusive); err == nil {
						time.Sleep(100 * time.Millisecond)
						_ = le.Unlock(context.Background())
					}
				}
			}()
		}
		time.Sleep(time.Second)
		for range 10 {
			start := time.Now()
			le := w.lock(1)
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("waited %v behind a busy host", d)
			}
			w.unlock(le)
			time.Sleep(2 * time.Second)
		}
		stop()
		time.Sleep(time.Minute)
	})
}

// A call that hangs holds up neither the caller's context nor the lease's deadline.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simfs.Config{}, func(c *Config) { c.Detach = true })
		le := w.lock(0)
		w.host(0).Partition()
		start := time.Now()
		<-le.Context().Done()
		if d := time.Since(start); d > 90*time.Second || !errors.Is(context.Cause(le.Context()), locking.ErrLost) {
			t.Errorf("lost after %v with %v", d, context.Cause(le.Context()))
		}
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		start = time.Now()
		if err := le.Unlock(ctx); err == nil {
			t.Error("unlock of a lost lease on a share that hangs: nil")
		}
		if _, err := w.host(0).Lock(ctx, "other", locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lock on a share that hangs: %v", err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("the calls took %v, want 5 s and a bit", d)
		}
		w.host(0).Heal()
		time.Sleep(time.Minute)
		w.clean()
		if k, err := w.host(1).List(context.Background()); err != nil || len(k) != 0 {
			t.Errorf("locked afterwards: %v, %v", k, err)
		}
	})
}

// A folder of several keys goes away with the last of them.
func TestNestedFolderGoes(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		ctx := context.Background()
		a, err := w.host(0).Lock(ctx, "out/e1/0-1000", locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.host(1).Lock(ctx, "out/e1/1000-2000", locking.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		if keys, err := w.host(2).List(ctx); err != nil || len(keys) != 2 || keys[0] != "out/e1/0-1000" {
			t.Errorf("list: %v, %v", keys, err)
		}
		w.unlock(a)
		if err := b.Verify(ctx); err != nil {
			t.Error(err)
		}
		w.unlock(b)
		if _, err := w.srv.Observer().Stat("locks/out/e1"); err == nil {
			t.Error("the folder is still there")
		}
	})
}
