package fanout

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// crashScript makes every kind of result: two refusals, one deferral, the rest sent.
func crashScript(_ *queue.Transaction, r mailaddr.Address, try int) queue.Reply {
	switch {
	case r == "m4@example.org" || r == "m12@example.org":
		return reply(550, queue.PhaseRcpt, "5.1.1", "no such user")
	case r == "m7@example.org" && try == 0:
		return reply(450, queue.PhaseRcpt, "4.2.2", "mailbox full")
	}
	return queue.Reply{}
}

// crashSize recipients are two ranges: one host can hold both.
const crashSize = 14

// run sends a post from host a, which suffers the fault, and from host b a minute
// later, and checks promises 1 and 2. It reports whether a died.
func crashRun(t *testing.T, name string, cfg simfs.Config, verp bool, fault simfs.Fault) (died bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, cfg)
		w.poll = 5 * time.Second
		w.members(crashSize)
		w.smtp.script, w.smtp.pause = crashScript, 20*time.Millisecond
		f := w.post(crashSize)
		f.VERP = verp
		id := w.send(f)
		a := w.srv.Host("a")
		fault.Host = "a"
		w.srv.Inject(fault)
		if cfg.AsyncExport {
			go func() {
				<-a.Context().Done()
				w.srv.PowerCut()
			}()
		}
		eaten := func() {}
		if verp {
			eaten = w.consume()
		}
		stop := w.start(a, w.config(a))
		time.Sleep(time.Minute)
		if died = a.Context().Err() != nil; died {
			stop()
		}
		stopB := w.host("b")
		w.settled(3 * time.Hour)
		stopB()
		stop()
		eaten()
		w.checkCrash(name, id)
	})
	return died
}

// checkCrash: everybody served, repeats only where they were logged and no more
// than a transaction per connection, each bounce event once, nothing left over.
func (w *world) checkCrash(name string, id queue.ID) {
	w.t.Helper()
	logged, repeats := w.log.repeats(), 0
	for i := range crashSize {
		r := fmt.Sprintf("m%d@example.org", i)
		want := 1
		if i == 4 || i == 12 {
			want = 0
		}
		got := w.smtp.copied()[string(id)+" "+r]
		repeats += max(0, got-1)
		if got < want || (got > want && !logged[r]) {
			w.t.Errorf("%s: %s got %d copies, want %d; logged as repeats: %v", name, r, got, want, logged)
		}
	}
	if repeats > w.smtp.max*4*2 {
		w.t.Errorf("%s: %d repeats over 4 connections of 2 claims", name, repeats)
	}
	b := w.consumed
	for _, e := range w.entries(queue.Bounces) {
		b = append(b, string(e.ID))
	}
	if len(b) != 2 || b[0] == b[1] {
		w.t.Errorf("%s: bounce events %v", name, b)
	}
	if w.t.Failed() {
		w.t.Logf("%s:\n%s", name, w.log)
	}
}

func TestCrashAtEveryCall(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  simfs.Config
		verp bool
		kind simfs.Kind
		step int
	}{
		{"before, bulk", simfs.Config{}, false, simfs.CrashBefore, 1},
		{"after, bulk", simfs.Config{}, false, simfs.CrashAfter, 2},
		{"before, VERP, v3", simfs.Config{Version: simfs.V3}, true, simfs.CrashBefore, 2},
		{"power cut, bulk", simfs.Config{AsyncExport: true, Seed: 1}, false, simfs.CrashBefore, 2},
		{"power cut, VERP", simfs.Config{AsyncExport: true, Seed: 2}, true, simfs.CrashAfter, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := 1
			for crashRun(t, fmt.Sprintf("call %d", k), c.cfg, c.verp, simfs.Fault{Nth: k, Kind: c.kind}) && !t.Failed() {
				k += c.step
			}
			t.Logf("%d calls", k)
			if k < 50 {
				t.Errorf("only %d calls were made to crash at", k)
			}
		})
	}
}

// TestOddAnswerAtEveryCall: a lost answer, an error of a call that was done, an error.
func TestOddAnswerAtEveryCall(t *testing.T) {
	for _, kind := range []simfs.Kind{simfs.LostAnswer, simfs.DoneButError, simfs.Refuse} {
		t.Run(kind.String(), func(t *testing.T) {
			for k := 1; k < 130 && !t.Failed(); k++ {
				cfg := simfs.Config{}
				if kind == simfs.LostAnswer {
					cfg.Version, cfg.NoReplyCache = simfs.V3, true
				}
				crashRun(t, fmt.Sprintf("%v at call %d", kind, k), cfg, false, simfs.Fault{Nth: k, Kind: kind})
			}
		})
	}
}
