package world_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"qrunner/locking/simfs"
	. "qrunner/queue/queuetest/world"
)

// errnos are what a share in trouble answers.
var errnos = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ESTALE, syscall.EROFS}

// TestFaultAtEveryCall: one call of a deed after the other is refused, with another error
// each time, or is done and its answer lost. Nothing half made is ever used, and all
// ends well. WORLD_STRIDE=1 tries every call.
func TestFaultAtEveryCall(t *testing.T) {
	tried := 0
	for i, d := range deeds() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			step, points := d.stride(t), 0
			for n := 1 + i; ; n += step {
				f := simfs.Fault{Host: "a", Nth: n, Kind: simfs.Refuse, Errno: errnos[n%len(errnos)]}
				switch n % 4 {
				case 1:
					f.Kind = simfs.LostAnswer
				case 2:
					if f.Errno != syscall.ESTALE { // nobody says so of what was done
						f.Kind = simfs.DoneButError
					}
				}
				if !faultAt(t, d, n, f, 0) {
					break
				}
				points++
				if t.Failed() {
					t.Fatalf("%s: %s %s at call %d", d.name, f.Kind, f.Errno, n)
				}
			}
			t.Logf("%d calls failed", points)
			tried += points
		})
	}
	t.Logf("%d calls failed in all", tried)
}

// TestTenBadMinutes: for ten minutes every call that writes is refused, beginning in the
// middle of a deed. Clients are told to come back, nobody turns in a tight loop or
// fills the log, nothing is parked, and all goes on by itself.
func TestTenBadMinutes(t *testing.T) {
	for i, d := range deeds() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			for k, e := range errnos {
				if os.Getenv("WORLD_STRIDE") == "" && k != i%len(errnos) {
					continue // an ordinary run tries one error for each deed
				}
				f := simfs.Fault{Host: "a", Kind: simfs.Refuse, Errno: e}
				faultAt(t, d, 20*k+i, f, 10*time.Minute)
				if t.Failed() {
					t.Fatalf("%s: %s", d.name, e)
				}
			}
		})
	}
}

// faultAt does a deed while a fault is in force, from the nth change on for the given
// time or at one call; it reports whether there was such a call.
func faultAt(t *testing.T, d deed, n int, f simfs.Fault, bad time.Duration) (hit bool) {
	c := d.config
	c.Seed, c.Poll = uint64(n), 3*time.Second
	if n%3 == 0 {
		c.Server.Version = simfs.V3
	}
	hit = true
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Hour)
		defer cancel()
		if d.prepare != nil {
			must(t, d.prepare(ctx, w))
		}
		if d.daemon {
			must(t, w.Start("a"))
		}
		done := make(chan struct{})
		dctx, stop := context.WithTimeout(ctx, time.Hour)
		defer stop()
		if bad == 0 {
			w.Server.Inject(f)
		}
		go func() { defer close(done); d.do(dctx, w) }()
		if bad > 0 {
			weather(w, f, n, bad)
			busy(t, w, f, bad)
		}
		wait(w.FS("a"), w, done)
		<-done
		hit = bad > 0 || w.Calls("a") >= f.Nth
		if hit && !strings.HasPrefix(d.name, "shunt") {
			aftermath(t, ctx, w, d, mode{same: true})
			if left := w.Shunted(); len(left) > 0 {
				t.Errorf("trouble of the share has parked %v", left)
			}
		} else if hit {
			must(t, w.Stop())
			aftermath(t, ctx, w, d, mode{})
		}
	})
	return hit
}

// weather turns bad after n changes, and good again.
func weather(w *World, f simfs.Fault, n int, bad time.Duration) {
	for start := w.Server.Calls(); w.Server.Calls() < start+n && w.Age() < time.Minute; {
		time.Sleep(10 * time.Millisecond)
	}
	for _, op := range []string{"open", "write", "sync", "close", "link", "dirlink", "rename", "dirrename", "mkdir", "touch", "dirtouch", "remove"} {
		g := f
		g.Op = op
		w.Server.Inject(g)
	}
	time.Sleep(bad)
	w.Server.Heal()
}

// busy checks what the bad time has cost.
func busy(t *testing.T, w *World, f simfs.Fault, bad time.Duration) {
	t.Helper()
	if n := w.Calls("a"); float64(n) > 60*bad.Seconds() {
		t.Errorf("%s: %d calls in %v", f.Errno, n, bad)
	}
	kinds := map[string]int{}
	for _, l := range w.Log.Lines("") {
		if l.Text != "refused" && l.Text != "smtp server" { // one for each try of a client
			kinds[l.Text+" "+l.Attrs["queue"]+l.Attrs["list"]+l.Attrs["entry"]]++
		}
	}
	for k, n := range kinds {
		if n > 4 {
			t.Errorf("%s: %d lines %q in %v", f.Errno, n, k, bad)
		}
	}
}
