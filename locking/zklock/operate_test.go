package zklock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

func TestInspect(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		ctx := context.Background()
		l := w.host(0)
		r, err := l.Inspect(ctx, listKey)
		if err != nil || r.State != locking.StateFree {
			t.Errorf("free lock: %+v, %v", r, err)
		}
		a, err := l.Lock(ctx, listKey, locking.Shared, locking.WithNote("reads"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.host(1).Lock(ctx, listKey, locking.Shared)
		if err != nil {
			t.Fatal(err)
		}
		next := w.lockLater(ctx, 2, locking.Exclusive)
		last := w.lockLater(ctx, 0, locking.Shared)
		r, err = w.host(2).Inspect(ctx, listKey)
		if err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		want := locking.Report{
			Key: listKey, Mode: locking.Shared, State: locking.StateHeld,
			Holder:  locking.Holder{Host: "h0", PID: 100, Note: "reads"},
			Sharing: []locking.Holder{{Host: "h1", PID: 101}},
			Waiters: []locking.Holder{{Host: "h2", PID: 102}, {Host: "h0", PID: 100}},
		}
		got := r
		got.Why, got.Would = "", ""
		for _, h := range append([]*locking.Holder{&got.Holder, &got.Sharing[0]}, &got.Waiters[0], &got.Waiters[1]) {
			if d := since.Sub(h.Since); d < 0 || d > time.Second {
				t.Errorf("since %v", h.Since)
			}
			h.Since = time.Time{}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if r.Why == "" || r.Would == "" {
			t.Errorf("%+v", r)
		}
		w.unlock(a)
		w.unlock(b)
		w.unlock(w.got(next, time.Second))
		w.unlock(w.got(last, time.Second))
	})
}

func TestInspectNodeWithoutSession(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		w.ens.Create(listDir+"/"+guidA+"__lock__0000000000", []byte("some kazoo"), 0)
		r, err := w.host(0).Inspect(context.Background(), listKey)
		if err != nil || r.State != locking.StateHeld || !r.Torn || r.Holder.Note != "some kazoo" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestList(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		ctx := context.Background()
		l := w.host(0)
		w.unlock(w.lock(0)) // leaves an empty container
		for _, k := range []locking.Key{"b@example.org", "out/e/0-9", "a@example.org", "out"} {
			if _, err := l.Lock(ctx, k, locking.Exclusive); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.host(1).List(ctx)
		if d := cmp.Diff([]locking.Key{"a@example.org", "b@example.org", "out", "out/e/0-9"}, got); d != "" || err != nil {
			t.Error(d, err)
		}
	})
}

func TestSteal(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		ctx := context.Background()
		old := w.lock(0)
		next := w.lockLater(ctx, 1, locking.Exclusive)
		le, r, err := w.host(2).Steal(ctx, listKey, locking.WithNote("operator"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Holder.Host != "h0" || len(r.Waiters) != 1 {
			t.Errorf("report %+v", r)
		}
		select {
		case <-old.Context().Done():
		case <-time.After(time.Second):
			t.Error("the holder was not told")
		}
		if err := old.Unlock(ctx); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock of a stolen lock: %v", err)
		}
		select {
		case r := <-next:
			t.Errorf("the waiter has it too: %+v", r)
		case <-time.After(time.Second):
		}
		w.unlock(le)
		w.unlock(w.got(next, time.Second)) // it queued up again
		w.clean()
	})
}

func TestStealFree(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le, r, err := w.host(0).Steal(context.Background(), listKey)
		if err != nil || r.State != locking.StateFree {
			t.Fatal(r, err)
		}
		w.unlock(le)
	})
}

// The lock changes hands between the look and the steal: nothing happens.
func TestStealLost(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		ctx := context.Background()
		le := w.lock(0)
		next := w.lockLater(ctx, 1, locking.Exclusive)
		thief := w.host(2)
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if r.Op == "multi" && r.Session == thief.s.conn.SessionID() && le.ctx.Err() == nil {
				if len(w.nodes()) == 3 { // the thief has queued up
					w.ens.Hook(nil)
					w.unlock(le)
				}
			}
			return zktest.Fate{}
		})
		if le, _, err := thief.Steal(ctx, listKey); !errors.Is(err, locking.ErrStealLost) {
			t.Errorf("got %v %v, want ErrStealLost", le, err)
		}
		second := w.got(next, time.Second)
		if err := second.Verify(ctx); err != nil {
			t.Error(err)
		}
		w.unlock(second)
		w.clean()
	})
}

func TestProbe(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		link := w.ens.Link()
		cfg := Config{Servers: append(w.ens.Addrs(), "nowhere:1"), SessionTimeout: timeout, Dial: link.Dial, ConnectTimeout: 2 * time.Second}
		cfg.TLS = nil
		level := map[string]Level{}
		for _, f := range Probe(context.Background(), cfg) {
			t.Logf("%s: %s: %s", f.Level, f.What, f.Detail)
			level[f.What] = f.Level
		}
		want := map[string]Level{
			"server s0:1": LevelOK, "server s1:1": LevelOK, "server nowhere:1": LevelFail,
			"session": LevelOK, "rights": LevelWarn, "latency": LevelOK, "lock": LevelOK,
		}
		if d := cmp.Diff(want, level); d != "" {
			t.Error(d)
		}
		cfg.SessionTimeout = time.Second
		for _, f := range Probe(context.Background(), cfg) {
			if f.What == "session" && f.Level != LevelFail {
				t.Errorf("session timeout out of bounds: %+v", f)
			}
		}
	})
}
