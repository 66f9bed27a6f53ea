package fanout

import (
	"fmt"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// TestLongPostStarvesNobody: a post of 1,000 ranges and 100 lists with one each.
func TestLongPostStarvesNobody(t *testing.T) {
	a := newAgenda()
	looks := []look{{list: "big@e.org", posts: []queue.ID{"b1", "b2"}, ranges: map[queue.ID]int{"b1": 1000}}}
	for i := range 100 {
		looks = append(looks, look{list: lists.ID(fmt.Sprintf("l%d@e.org", i)), posts: []queue.ID{"p"}})
	}
	a.update(looks)
	now := time.Unix(1, 0)
	big := 0
	for turns, small := 0, 0; small < 100; turns++ {
		n, ok := a.next(now, true, "")
		if !ok || turns > 110 {
			t.Fatalf("after %d turns %d of 100 small lists were served", turns, small)
		}
		if n.list == "big@e.org" {
			big++
			a.done(n, false, time.Time{})
		} else {
			small++
			a.done(n, true, time.Time{})
		}
	}
	if big == 0 || big > 10 {
		t.Errorf("%d turns for the long post meanwhile", big)
	}
}

func TestAgendaOrder(t *testing.T) {
	now := time.Unix(1, 0)
	pick := func(a *agenda, bulk bool, avoid queue.ID) string {
		n, ok := a.next(now, bulk, avoid)
		if !ok {
			return "-"
		}
		return string(n.id)
	}
	a := newAgenda()
	a.update([]look{{list: "l@e.org", posts: []queue.ID{"p1", "p2"}, ranges: map[queue.ID]int{"p1": 2}, notices: []queue.ID{"n1", "n2"}}})
	for i, want := range []string{"n1", "n2", "p1", "p1", "-"} {
		if got := pick(a, true, ""); got != want {
			t.Fatalf("turn %d: %s, want %s", i, got, want)
		}
	}
	p1 := turn{unit{"l@e.org", "p1"}, false}
	a.done(p1, false, now.Add(time.Second)) // others have the rest of it, but a turn goes on here
	if got := pick(a, true, ""); got != "-" {
		t.Errorf("%s overtakes p1", got)
	}
	a.done(p1, false, now.Add(time.Second))
	if got := pick(a, true, ""); got != "p2" {
		t.Errorf("p1 sleeps: %s", got)
	}
	a.done(turn{unit{"l@e.org", "p2"}, false}, false, time.Time{})
	now = now.Add(time.Second)
	if got := pick(a, true, "p1"); got != "p2" {
		t.Errorf("a probe that shall avoid p1 takes %s", got)
	}
	a.done(turn{unit{"l@e.org", "p2"}, false}, true, time.Time{})
	if got := pick(a, true, "p1"); got != "p1" {
		t.Errorf("a probe with nothing but p1 takes %s", got)
	}
	if got := pick(a, false, ""); got != "-" {
		t.Errorf("without bulk: %s", got)
	}
	a.update(nil) // turns go on for a list that a walk no longer finds
	for _, n := range []turn{p1, {unit{"l@e.org", "n1"}, true}, {unit{"l@e.org", "n2"}, true}} {
		a.done(n, true, time.Time{})
	}
	if a.update(nil); len(a.lines) > 0 {
		t.Error("a list that is done is remembered")
	}
}

func TestBreaker(t *testing.T) {
	var b breaker
	now := time.Unix(1, 0)
	if _, ok := b.allows(now, 5); !ok {
		t.Fatal("closed at first")
	}
	if !b.fail(now, "x", 0) || b.fail(now, "y", 0) {
		t.Error("one episode, two alerts")
	}
	if _, ok := b.allows(now.Add(firstProbe-1), 0); ok {
		t.Error("probes too early")
	}
	now = now.Add(firstProbe)
	if avoid, ok := b.allows(now, 0); !ok || avoid != "y" {
		t.Errorf("probe: avoid %q, %v", avoid, ok)
	}
	if _, ok := b.allows(now, 1); ok {
		t.Error("two probes at once")
	}
	b.fail(now, "z", time.Hour)
	if _, ok := b.allows(now.Add(time.Hour-1), 0); ok {
		t.Error("does not wait as long as the transport says")
	}
}

// TestSliceGivesOthersTheirTurn: while other lists wait, a claim begins nothing more when
// its time is over; alone it goes on.
func TestSliceGivesOthersTheirTurn(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = time.Second
		c := w.config(w.srv.Host("a"))
		c.BatchSize, c.Workers, c.Conns = 100, 1, 1
		big := w.send(w.post(100))
		defer w.start(w.srv.Host("a"), c)()
		time.Sleep(2 * time.Second)
		small := w.post(1)
		small.List = "bee@example.com"
		id := w.send(small)
		time.Sleep(15 * time.Second)
		got := w.smtp.copied()
		if n := len(got); got[string(id)+" m0@example.org"] != 1 || n > 60 {
			t.Errorf("after 17 s: %d copies, the small post's %d times", n, got[string(id)+" m0@example.org"])
		}
		w.settled(time.Hour)
		w.once(100, big)
	})
}
