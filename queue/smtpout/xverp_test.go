package smtpout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

// A smarthost with XVERP gets one transaction and makes the senders; one without gets a
// copy for each recipient, with the sender that the other would have made.
func TestXVERP(t *testing.T) {
	for _, tt := range []struct {
		name        string
		sink, ours  bool
		known       bool
		senders, to []string
	}{
		{"offered", true, true, true, []string{"list-bounces@example.org"}, []string{"a@x.org b@x.org"}},
		{"not offered", false, true, false, []string{"list-bounces+a=x.org@example.org", "list-bounces+b=x.org@example.org"}, []string{"a@x.org", "b@x.org"}},
		{"not asked for", true, false, false, nil, nil},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			r := newRig(t, queuetest.SinkConfig{XVERP: tt.sink, Keep: queuetest.KeepMessages}, smtpout.Config{XVERP: tt.ours})
			if r.pool.XVERP() {
				t.Error("known before the first connection")
			}
			r.acquire().Release()
			if r.pool.XVERP() != tt.known {
				t.Errorf("known: %v", r.pool.XVERP())
			}
			if !tt.ours {
				return
			}
			m := mail("a@x.org", "b@x.org")
			m.XVERP = true
			if got := outline(r.send(m)); got != "250 dot, 250 dot" {
				t.Error(got)
			}
			var senders, to []string
			for _, m := range r.sink.Messages() {
				senders, to = append(senders, m.Sender), append(to, strings.Join(m.Recipients, " "))
				if asked := slices.Contains(strings.Fields(m.Params), "XVERP=+="); asked != tt.sink {
					t.Errorf("params %q", m.Params)
				}
			}
			if d := cmp.Diff(tt.senders, senders) + cmp.Diff(tt.to, to); d != "" {
				t.Error(d)
			}
			if v := r.sink.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}
