package e2e

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// shortLocks makes a dead host's locks expire soon.
func shortLocks(c *config.Config) {
	c.Lock.Lifetime, c.Lock.DeliveryLifetime, c.Lock.Slop = 3*time.Second, 3*time.Second, time.Second
}

// doomed is the script of a smarthost that takes mail until a host's deliveries have gone
// so far; from then on it takes that host's mail and never says so.
type doomed struct {
	host  string
	after int64
	mine  sync.Map // the numbers of that host's connections
	dots  atomic.Int64
}

func (d *doomed) script(s queuetest.Step) queuetest.Action {
	switch s.Phase {
	case queue.PhaseEHLO:
		if s.Arg == d.host {
			d.mine.Store(s.Conn, true)
		}
	case queue.PhaseDot:
		if _, ok := d.mine.Load(s.Conn); ok && d.dots.Add(1) > d.after {
			return queuetest.Action{Lost: true, Hang: true}
		}
	}
	return queuetest.Action{}
}

// TestTakeover kills one of two hosts in the middle of a fan-out, with posts waiting: the
// other one does the rest. Nothing is lost, and what arrives twice is one transaction per
// connection at most, and logged.
func TestTakeover(t *testing.T) {
	t.Parallel()
	const list = "ant@lists.example.com"
	const members, posts, perTransaction, conns = 400, 12, 5, 4
	d := &doomed{host: "a.example", after: 100}
	sink, addr := newSink(t, queuetest.SinkConfig{Script: d.script})
	a := newHost(t, "a", shortLocks, func(c *config.Config) {
		c.Smarthost.Address, c.Smarthost.Batch, c.Smarthost.Hello = addr, 50, d.host
		c.Smarthost.Connections, c.Smarthost.Recipients = conns, perTransaction
	})
	b := a.with("b", func(c *config.Config) { c.Smarthost.Hello = "b.example" })
	a.list(list, members)
	da := a.start()
	want := ids("takeover", posts)
	in := da.lmtp()
	for _, id := range want[:posts/2] {
		in.post(poster, message(poster, list, id), list)
	}
	until(t, "the host a to wait for an answer", func() bool { return d.dots.Load() > d.after })
	db := b.start()
	in = db.lmtp()
	for _, id := range want[posts/2:] {
		in.post(poster, message(poster, list, id), list)
	}
	da.kill()
	until(t, "every copy", func() bool { return distinct(count(sink)) >= members*posts })
	b.idle()
	got := count(sink)
	var twice []string
	for _, id := range want {
		for _, r := range memberNames(members) {
			switch n := got[id][r]; {
			case n == 2:
				twice = append(twice, id+" "+r)
			case n != 1:
				t.Errorf("%s at %s: %d times", id, r, n)
			}
		}
	}
	if len(twice) == 0 {
		t.Error("nothing came twice, though the host a was killed with an answer outstanding")
	}
	checkRepeats(t, db, twice, conns*perTransaction)
	db.stop()
	t.Logf("%d copies twice; locks of b: %v", len(twice), db.locks())
	if db.broken() == 0 {
		t.Error("b broke no lock: nothing was taken over")
	}
	b.noLocks(list)
}

// noLocks checks that nothing of dead processes is left in a list's lock once somebody
// has used it again. (Claims of deliveries that were over when their owner died stay.)
func (h *host) noLocks(list string) {
	h.t.Helper()
	h.must("member", "add", list, "late@members.example")
	if left := h.files("locks/" + list); len(left) > 0 {
		h.t.Errorf("left of the list's lock: %v", left)
	}
	if left := h.files("locks/out"); len(left) > 0 {
		h.t.Logf("left of deliveries: %v", left)
	}
}

// checkRepeats compares what arrived twice with what the log says may. (The log names
// more: deliveries that were announced in the journal and waited for a connection.)
func checkRepeats(t *testing.T, d *daemon, twice []string, most int) {
	t.Helper()
	if len(twice) > most {
		t.Errorf("%d copies twice, want at most %d: %v", len(twice), most, twice)
	}
	logged := map[string]bool{}
	for _, l := range d.logged("possible repeat: a former delivery was cut off") {
		logged[l.text("rcpt")] = true
	}
	for _, s := range twice {
		if _, rcpt, _ := strings.Cut(s, " "); !logged[rcpt] {
			t.Errorf("%s came twice, and no line of the log says that it may have", s)
		}
	}
}

// distinct counts copies, each once however often it came.
func distinct(c tally) int {
	n := 0
	for _, rcpts := range c {
		n += len(rcpts)
	}
	return n
}

// TestKillAnywhere ends a lone daemon 20 times in the middle of a fan-out and starts it
// again, with a smarthost that hangs up every now and then: members are skipped never,
// and served again once per connection and kill at most.
func TestKillAnywhere(t *testing.T) {
	const list = "ant@lists.example.com"
	const members, kills, perTransaction, conns = 10000, 20, 10, 4
	sink, addr := newSink(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
		switch {
		case s.Phase == queue.PhaseDot:
			return queuetest.Action{Wait: 5 * time.Millisecond}
		case s.Phase == queue.PhaseMail && s.Message == 50:
			return queuetest.Action{Close: true}
		}
		return queuetest.Action{}
	}})
	h := newHost(t, "a", shortLocks, func(c *config.Config) {
		c.Smarthost.Address, c.Smarthost.Batch = addr, 2500
		c.Smarthost.Connections, c.Smarthost.Recipients = conns, perTransaction
	})
	h.list(list, members)
	id := ids("kill", 1)[0]
	if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
		t.Fatal(r)
	}
	all := func() bool { return len(count(sink)[id]) == members }
	killed := 0
	for i := range kills {
		d := h.launch()
		goal := sink.Stats().Recipients + int64(300+10*i)
		until(t, fmt.Sprintf("%d copies", goal), func() bool { return sink.Stats().Recipients >= goal || all() })
		if !all() {
			killed++
		}
		d.kill()
	}
	d := h.start()
	until(t, "every copy", all)
	h.idle()
	d.stop()
	extra := sink.Stats().Duplicates
	t.Logf("%d kills in mid-work, %d copies more than needed", killed, extra)
	if killed < kills/2 {
		t.Errorf("only %d of %d kills met work", killed, kills)
	}
	if extra > killed*conns*perTransaction {
		t.Errorf("%d copies too many, want at most one transaction per connection and kill", extra)
	}
	h.noLocks(list)
}
