package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestCrowd has 20 processes deliver 50 posts through the pipe at the same time,
// while two hosts work on the list: all are kept, each reaches each member once, and
// they are numbered in the order in which they were acknowledged.
func TestCrowd(t *testing.T) {
	const posts, processes, members = 50, 20, 40
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	a := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	b := a.with("b")
	a.list(list, members, "subject_prefix=[ant %d]")
	da, db := a.start(), b.start()

	took := make([]struct{ began, ended time.Time }, posts)
	want := ids("crowd", posts)
	work := make(chan int, posts)
	for i := range posts {
		work <- i
	}
	close(work)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for p := range processes {
		h := []*host{a, b}[p%2]
		wg.Go(func() {
			<-gate
			for i := range work {
				took[i].began = time.Now()
				if r := h.run(message(poster, list, want[i]), "deliver", "-f", poster, "post", list); r.code != 0 {
					t.Errorf("post %d: %v", i, r)
				}
				took[i].ended = time.Now()
			}
		})
	}
	close(gate)
	wg.Wait()
	if err := sink.Wait(patient(t), posts*members); err != nil {
		t.Fatal(err)
	}
	a.idle()
	count(sink).once(t, want, memberNames(members))

	number := postNumbers(t, sink)
	for i := range posts {
		for j := range posts {
			if took[i].ended.Before(took[j].began) && number[want[i]] >= number[want[j]] {
				t.Errorf("post %d was acknowledged before post %d began, and has number %d, the other %d",
					i, j, number[want[i]], number[want[j]])
			}
		}
	}
	da.stop()
	db.stop()
	handoversInOrder(t, a, list, posts)
	for _, d := range []*daemon{da, db} {
		t.Logf("locks of %s: %v", d.h.conf.Host, d.locks())
		if n := d.broken(); n != 0 {
			t.Errorf("%s broke %d locks of holders that were alive", d.h.conf.Host, n)
		}
	}
	if left := a.files("locks"); len(left) > 0 {
		t.Errorf("left in locks: %v", left)
	}
}

// postNumbers are the numbers in the subjects, by Message-ID; each is used once.
func postNumbers(t *testing.T, sink *queuetest.Sink) map[string]int {
	t.Helper()
	subject := regexp.MustCompile(`(?m)^Subject: \[ant (\d+)\] About (\S+)\r$`)
	out, used := map[string]int{}, map[int]string{}
	for _, m := range sink.Messages() {
		f := subject.FindSubmatch(m.Raw)
		if f == nil {
			t.Fatalf("no number in the subject:\n%s", m.Raw)
		}
		n, _ := strconv.Atoi(string(f[1]))
		id := string(f[2])
		if old, ok := used[n]; ok && old != id {
			t.Errorf("number %d was given to %s and to %s", n, old, id)
		}
		out[id], used[n] = n, id
	}
	return out
}

// handoversInOrder checks the list's log: each record consumes entries of the queue in
// in the order of their names, and posts of them are consumed in all. (From record to
// record the order is that of postNumbers: an entry gets its name before it is visible,
// and posts that were taken at the same time have no order.)
func handoversInOrder(t *testing.T, h *host, list string, posts int) {
	t.Helper()
	var records []struct {
		N       uint64
		Changes []struct {
			Open struct {
				Handover struct{ Entry string }
			} `json:"open_handover"`
		}
	}
	h.query(&records, "list", "log", "--all", list)
	n := 0
	for _, r := range records {
		last := ""
		for _, c := range r.Changes {
			entry := c.Open.Handover.Entry
			if !strings.HasPrefix(entry, "in/") {
				continue
			}
			if n++; entry <= last {
				t.Errorf("record %d consumes %s after %s", r.N, entry, last)
			}
			last = entry
		}
	}
	if n != posts {
		t.Errorf("the log has %d hand-overs, want %d", n, posts)
	}
}
