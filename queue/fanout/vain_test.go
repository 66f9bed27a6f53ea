package fanout

import (
	"strings"
	"testing"
	"time"

	"qrunner/locking/simfs"
	"qrunner/queue/spool"
)

// TestEndThatIsNoMore: a host remembers that a range is over, and its journals do not say
// so (any more). It finds out and delivers, instead of claiming the round's end for ever.
func TestEndThatIsNoMore(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(w *world) {
		id := w.send(w.post(10))
		h := w.srv.Host("a")
		s := New(w.config(h))
		u := unit{ant, id}
		if _, err := s.look(u); err != nil {
			t.Fatal(err)
		}
		s.over(u, 0, record{kind: ended, round: 1})
		var r result
		for range 5 {
			if r = s.turn(w.t.Context(), turn{unit: u}); r.gone {
				break
			}
			if !r.until.After(time.Now()) {
				t.Fatal("the next turn comes at once")
			}
			time.Sleep(time.Until(r.until))
		}
		if !r.gone {
			t.Errorf("not done after five turns:\n%s", w.log)
		}
		w.once(10, id)
	})
}

// TestVainClaims: an entry whose claims never hold is tried ever more rarely, with one
// line in the log.
func TestVainClaims(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(w *world) {
		id := w.send(w.post(10))
		u := unit{ant, id}
		// A hole in the numbers, which nobody will fill.
		if err := w.eye.Link(u.dir()+"/"+spool.MessageFile, u.dir()+"/"+journalName("000000", 2)); err != nil {
			t.Fatal(err)
		}
		stop := w.host("a")
		time.Sleep(time.Hour)
		stop()
		n := 0
		for _, name := range w.ls("out") {
			if strings.Contains(name, journalStem) {
				n++
			}
		}
		if n < 10 || n > 80 {
			t.Errorf("%d journals in an hour", n)
		}
		if k := strings.Count(w.log.String(), "withdrawn"); k != 1 {
			t.Errorf("%d lines:\n%s", k, w.log)
		}
	})
}
