package e2e

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// TestSmarthostTrouble: whatever the smarthost does, each member gets the post once,
// but for the one whom it refuses for good, and for whom there is one bounce event.
func TestSmarthostTrouble(t *testing.T) {
	const list, members = "ant@lists.example.com", 25
	rcpt := func(n int) string { return memberNames(members)[n] }
	for name, tc := range map[string]struct {
		script func(queuetest.Step) queuetest.Action
		gone   []string // refused for good
	}{
		"slow":               {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Action: queuetest.Action{Wait: 20 * time.Millisecond}}), nil},
		"hangs up at DATA":   {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseData, Times: 3, Action: queuetest.Action{Close: true}}), nil},
		"hangs up in RCPT":   {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Arg: rcpt(3), Times: 2, Action: queuetest.Action{Close: true}}), nil},
		"hangs up at MAIL":   {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseMail, Times: 4, Action: queuetest.Action{Close: true}}), nil},
		"421 at greeting":    {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseGreeting, Times: 1, Action: queuetest.Action{Reply: "421 4.3.2 busy", Close: true}}), nil},
		"4xx for one member": {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Arg: rcpt(3), Times: 2, Action: queuetest.Action{Reply: "450 4.2.1 greylisted"}}), nil},
		"4xx for all":        {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Times: 2 * members, Action: queuetest.Action{Reply: "451 4.3.0 later"}}), nil},
		"452 too many":       {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Arg: rcpt(9), Times: 3, Action: queuetest.Action{Reply: "452 4.5.3 too many recipients"}}), nil},
		"4xx at the dot":     {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseDot, Times: 2, Action: queuetest.Action{Reply: "451 4.3.0 later"}}), nil},
		"5xx for one member": {queuetest.Rules(queuetest.Rule{Phase: queue.PhaseRcpt, Arg: rcpt(3), Action: queuetest.Action{Reply: "550 5.1.1 no such user"}}), []string{rcpt(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink, addr := newSink(t, queuetest.SinkConfig{Script: tc.script})
			h := newHost(t, "a", func(c *config.Config) {
				c.Smarthost.Address, c.Smarthost.Recipients = addr, 10
				c.Retry.First, c.Retry.Most = time.Second, 2*time.Second
			})
			h.list(list, members)
			d := h.start()
			id := ids("trouble", 1)
			d.lmtp().post(poster, message(poster, list, id[0]), list)
			var want []string
			for _, m := range memberNames(members) {
				if len(tc.gone) == 0 || m != tc.gone[0] {
					want = append(want, m)
				}
			}
			until(t, "the copies", func() bool { return len(count(sink)[id[0]]) >= len(want) })
			h.idle()
			d.stop()
			count(sink).once(t, id, want)
			bounced := 0
			for _, e := range h.trace(id[0]) {
				if e.Event == "bounced" && e.Queue == "out" {
					bounced++
				}
			}
			if bounced != len(tc.gone) {
				t.Errorf("%d bounce events, want %d", bounced, len(tc.gone))
			}
		})
	}
}

// TestSmarthostDownAtStart: posts wait for a smarthost that is not there yet, and go
// out without help when it is; intake works meanwhile.
func TestSmarthostDownAtStart(t *testing.T) {
	t.Parallel()
	const list, members = "ant@lists.example.com", 10
	addr := freePort(t)
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, members)
	d := h.start()
	want := ids("down", 3)
	for _, id := range want {
		d.lmtp().post(poster, message(poster, list, id), list)
	}
	d.wait("site fault")
	sink, err := queuetest.NewSink(queuetest.SinkConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	if _, err := sink.Listen(t.Context(), addr); err != nil {
		t.Fatal(err)
	}
	if err := sink.Wait(patient(t), int64(members*len(want))); err != nil {
		t.Fatal(err)
	}
	h.idle()
	count(sink).once(t, want, memberNames(members))
	d.stop()
}

// TestTerm stops the daemon with SIGTERM at many moments of its work, twice in quick
// succession, and starts it again: each stop is clean, nothing is lost or repeated.
func TestTerm(t *testing.T) {
	const list, members, posts = "ant@lists.example.com", 40, 40
	var steps atomic.Int64
	sink, addr := newSink(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
		steps.Add(1)
		if s.Phase == queue.PhaseDot {
			return queuetest.Action{Wait: 5 * time.Millisecond}
		}
		return queuetest.Action{}
	}})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address, c.Smarthost.Recipients = addr, 5 })
	h.list(list, members)
	want := ids("term", posts)
	for i := range 12 {
		d := h.start()
		goal := steps.Load() + int64(i*37)
		c := d.lmtp()
		for _, id := range want[i*3 : i*3+3] {
			c.post(poster, message(poster, list, id), list)
		}
		until(t, "some work", func() bool { return steps.Load() >= goal || distinct(count(sink)) == (i*3+3)*members })
		d.term()
		d.stop()
	}
	d := h.start()
	for _, id := range want[36:] {
		d.lmtp().post(poster, message(poster, list, id), list)
	}
	until(t, "every copy", func() bool { return distinct(count(sink)) == posts*members })
	h.idle()
	d.stop()
	count(sink).once(t, want, memberNames(members))
	for _, l := range d.logged("lock was taken over") {
		t.Errorf("a stop left a lock: %v", l)
	}
	if left := h.files("locks"); len(left) > 0 {
		t.Errorf("left in locks: %v", strings.Join(left, " "))
	}
}
