package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

const (
	soakLists   = 20
	soakMembers = 5 // of each list
)

// TestSoak runs two daemons on one share for as long as SOAK says. They are killed, paused
// and restarted at any time; the smarthost defers, hangs up, and takes mail without saying
// so; clients post to all lists until they are told 250. In the end nobody was left out,
// what came twice is announced in a log, and the share is whole.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("SOAK=60s runs two daemons under fire for a minute")
	}
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSoak(t)
	posters := s.post()
	for end := time.Now().Add(length); time.Now().Before(end); {
		pace(time.Duration(500+rand.IntN(2500)) * time.Millisecond)
		s.strike()
	}
	s.calm.Store(true)
	for _, r := range s.runners {
		r.mend()
	}
	s.over.Store(true)
	posters.Wait()
	s.settle()
	s.check()
}

// soak is two hosts, their smarthost, and what clients were promised.
type soak struct {
	t       *testing.T
	lists   int
	sink    *queuetest.Sink
	calm    atomic.Bool // the smarthost behaves
	over    atomic.Bool // clients come to an end
	runners []*soakRunner
	blows   map[string]int

	mu    sync.Mutex
	taken map[string]string // Message-ID of what was answered 250: list
	tries int
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, lists: soakLists, blows: map[string]int{}, taken: map[string]string{}}
	var addr string
	s.sink, addr = newSink(t, queuetest.SinkConfig{Keep: queuetest.KeepCopies, Script: s.moody})
	a := newHost(t, "a", shortLocks, func(c *config.Config) {
		c.Smarthost.Address, c.Smarthost.Batch, c.Smarthost.Recipients = addr, 3, 2
		c.Retry.First, c.Retry.Most = 2*time.Second, 5*time.Second
		c.Run.Drain = 5 * time.Second
	})
	s.populate(a)
	s.runners = []*soakRunner{{h: a}, {h: a.with("b")}}
	for _, r := range s.runners {
		r.start()
	}
	return s
}

// populate makes the lists and their members.
func (s *soak) populate(h *host) {
	for n := range s.lists {
		h.list(soakList(n), 0, "default_nonmember_action=accept")
		if r := h.run(strings.Join(soakPeople(n), "\n")+"\n", "member", "import", soakList(n)); r.code != 0 {
			s.t.Fatal(r)
		}
	}
}

func soakList(n int) string { return fmt.Sprintf("l%02d@lists.example.com", n) }

func soakPeople(n int) (out []string) {
	for i := range soakMembers {
		out = append(out, fmt.Sprintf("m%d@l%02d.members.example", i, n))
	}
	return out
}

// moody is the smarthost's script.
func (s *soak) moody(step queuetest.Step) queuetest.Action {
	if s.calm.Load() {
		return queuetest.Action{}
	}
	n := rand.IntN(1000)
	switch step.Phase {
	case queue.PhaseRcpt:
		switch {
		case n < 20:
			return queuetest.Action{Reply: "451 4.2.1 later"}
		case n < 23:
			return queuetest.Action{Close: true}
		}
	case queue.PhaseDot:
		switch {
		case n < 10:
			return queuetest.Action{Reply: "451 4.3.0 later"}
		case n < 15:
			return queuetest.Action{Lost: true, Close: true}
		case n < 100:
			return queuetest.Action{Wait: time.Duration(rand.IntN(300)) * time.Millisecond}
		}
	case queue.PhaseEHLO:
		return queuetest.Action{Close: n < 5}
	}
	return queuetest.Action{}
}

// strike does something to one of the hosts, or mends it.
func (s *soak) strike() {
	r := s.runners[rand.IntN(len(s.runners))]
	if r.paused {
		r.mend()
		return
	}
	blows := []struct {
		name string
		do   func()
	}{
		{"kill", func() { r.d.kill(); pace(time.Duration(rand.IntN(2000)) * time.Millisecond); r.start() }},
		{"pause", func() { r.d.signal(syscall.SIGSTOP); r.paused = true }}, // for longer than a lease, often
		{"restart", func() { r.d.stop(); r.start() }},
		{"kill both", func() {
			for _, r := range s.runners {
				r.mend()
				r.d.kill()
			}
			for _, r := range s.runners {
				r.start()
			}
		}},
	}
	b := blows[[]int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3}[rand.IntN(10)]]
	s.blows[b.name]++
	b.do()
}

// settle waits until everybody has everything. What was parked on the way is put back: an
// entry that three hosts died with looks like poison.
func (s *soak) settle() {
	h := s.runners[0].h
	parked := h.files("queue/shunt")
	for n := range s.lists {
		if slices.ContainsFunc(parked, func(f string) bool { return strings.HasPrefix(f, "queue/shunt/"+soakList(n)) }) {
			h.must("shunt", "replay", "--all", soakList(n))
		}
	}
	if len(parked) > 0 {
		s.t.Logf("%d files were in shunt: %v", len(parked), parked)
	}
	h.idle()
	for _, r := range s.runners {
		r.d.stop()
	}
}

// check compares what came with what was promised.
func (s *soak) check() {
	got := count(s.sink)
	announced := map[string]int{}
	for _, r := range s.runners {
		for _, d := range r.all {
			d.mu.Lock()
			for _, l := range d.lines {
				if strings.HasPrefix(l.text("msg"), "possible repeat") {
					announced[l.text("rcpt")]++
				}
			}
			d.mu.Unlock()
		}
	}
	lost, twice, said := 0, map[string]int{}, 0
	for id, list := range s.taken {
		for n := range s.lists {
			for _, rcpt := range soakPeople(n) {
				switch k := got[id][rcpt]; {
				case soakList(n) != list && k > 0:
					s.t.Errorf("%s is not on %s and got %s", rcpt, list, id)
				case soakList(n) == list && k == 0:
					lost++
					s.t.Errorf("%s did not get %s", rcpt, id)
				case k > 1:
					twice[rcpt] += k - 1
				}
			}
		}
	}
	sum := 0
	for rcpt, n := range twice {
		sum += n
		if n > announced[rcpt] {
			s.t.Errorf("%s got %d copies too many, and the logs announce %d", rcpt, n, announced[rcpt])
		}
	}
	for _, n := range announced {
		said += n
	}
	for _, c := range []string{"queue", "list"} {
		if found, _ := s.runners[0].h.verify(c, "verify"); len(found) > 0 {
			s.t.Errorf("%s verify: %v", c, found)
		}
	}
	s.t.Logf("%d posts in %d tries, %d copies, %d lost, %d repeats (%d announced); %v", len(s.taken), s.tries,
		s.sink.Stats().Recipients, lost, sum, said, s.blows)
}

// soakRunner is one host and the daemon that runs on it.
type soakRunner struct {
	h      *host
	guest  string // its name in the NFS rig, if it is there
	d      *daemon
	all    []*daemon
	paused bool
	addr   atomic.Value // string: where LMTP is
}

func (r *soakRunner) start() {
	r.d = r.h.start()
	r.all = append(r.all, r.d)
	r.addr.Store(r.d.addr("lmtp"))
}

// mend lets a paused daemon go on, and starts another if it ends by that.
func (r *soakRunner) mend() {
	if r.paused {
		r.d.signal(syscall.SIGCONT)
		r.paused = false
	}
	select {
	case <-r.d.done:
		r.start()
	default:
	}
}

// where is the LMTP door of the last daemon.
func (r *soakRunner) where() string {
	addr, _ := r.addr.Load().(string)
	return addr
}
