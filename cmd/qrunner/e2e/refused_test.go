package e2e

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// TestRelayDenied: a smarthost that refuses every recipient, as one does that was
// configured wrongly, costs no member a bounce; when it works again, each gets the
// post once.
func TestRelayDenied(t *testing.T) {
	t.Parallel()
	const list, members, refusals = "ant@lists.example.com", 30, 3
	var works atomic.Bool
	var denied atomic.Int64
	var refuse sync.Map // by connection: as it was at MAIL
	sink, addr := newSink(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
		switch s.Phase {
		case queue.PhaseMail:
			refuse.Store(s.Conn, !works.Load())
		case queue.PhaseRcpt:
			if no, _ := refuse.Load(s.Conn); no == true {
				if s.Arg == poster {
					denied.Add(1)
				}
				return queuetest.Action{Reply: "554 5.7.1 <" + s.Arg + ">: Relay access denied"}
			}
		}
		return queuetest.Action{}
	}})
	h := newHost(t, "a", func(c *config.Config) {
		c.Smarthost.Address = addr
		c.Retry.First, c.Retry.Most = time.Second, 2*time.Second
	})
	h.list(list, members)
	d := h.start()
	id := ids("denied", 1)
	d.lmtp().post(poster, message(poster, list, id[0]), list)
	until(t, "some refusals", func() bool { return denied.Load() >= refusals })
	works.Store(true)
	h.idle()
	d.stop()
	count(sink).once(t, id, memberNames(members))
	if left := append(h.files("queue/bounces"), h.files("queue/shunt")...); len(left) > 0 {
		t.Errorf("bounce events or parked mail: %v", left)
	}
	for _, e := range h.trace(id[0]) {
		if e.Event == "bounced" {
			t.Error("a member was bounced for the smarthost's fault")
		}
	}
}

// event is what trace shows of a message.
type event struct{ Event, Detail, Rcpt, Queue, List, Entry string }

// trace is what is known of a post: nothing, perhaps, for a second.
func (h *host) trace(id string) []event {
	h.t.Helper()
	r := h.run("", "--json", "trace", "<"+id+">")
	if r.code == 66 {
		return nil
	}
	var out []event
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || r.code != 0 {
		h.t.Fatalf("trace %s: %v, %v", id, r, err)
	}
	return out
}

// outcome is the runner's word on a post: the event of the queue in; "" if there is none yet.
func (h *host) outcome(id string) (string, string) {
	h.t.Helper()
	for _, e := range h.trace(id) {
		if e.Queue == "in" && e.Event != "received" {
			return e.Event, e.Detail
		}
	}
	return "", ""
}
