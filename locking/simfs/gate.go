package simfs

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// Pick is a Scheduler's word on what happens next: the parked call Index goes, and
// suffers Fault (its Kind 0: what was injected, if anything).
type Pick struct {
	Index int
	Fault Fault
}

// Scheduler picks among the parked calls. There is at least one; they are in an
// order that does not depend on the Go scheduler.
type Scheduler interface {
	Next(parked []Call) Pick
}

// SchedulerFunc makes a Scheduler of a function.
type SchedulerFunc func(parked []Call) Pick

// Next implements Scheduler.
func (f SchedulerFunc) Next(parked []Call) Pick { return f(parked) }

// Random picks evenly, by seed.
func Random(seed uint64) Scheduler {
	rng := rand.New(rand.NewPCG(seed, 2))
	return SchedulerFunc(func(parked []Call) Pick { return Pick{Index: rng.IntN(len(parked))} })
}

// Replay makes the given picks, and the first parked call after their end.
func Replay(picks []Pick) Scheduler {
	return SchedulerFunc(func(parked []Call) (p Pick) {
		if len(picks) > 0 {
			p, picks = picks[0], picks[1:]
		}
		p.Index = min(p.Index, len(parked)-1)
		return p
	})
}

// Picks returns what the Scheduler picked so far, for Replay.
func (s *Server) Picks() []Pick {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gate.picks)
}

type gate struct {
	srv     *Server
	sched   Scheduler
	parked  []*call // guarded by the server's mutex, like picks
	picks   []Pick
	news    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

func newGate(s *Server, sched Scheduler) *gate {
	g := &gate{
		srv: s, sched: sched, news: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go g.run()
	return g
}

func (g *gate) park(c *call) {
	g.parked = append(g.parked, c)
	g.poke()
}

func (g *gate) poke() {
	select {
	case g.news <- struct{}{}:
	default:
	}
}

func (g *gate) close() {
	g.once.Do(func() { close(g.stop) })
	<-g.stopped
}

// run lets one call after the other through, each when every goroutine of the
// bubble is blocked: then what is parked does not depend on the Go scheduler.
func (g *gate) run() {
	defer close(g.stopped)
	for {
		synctest.Wait()
		ready := g.ready()
		if len(ready) > 0 && g.srv.cfg.Latency > 0 {
			time.Sleep(g.srv.cfg.Latency)
			synctest.Wait()
			ready = g.ready()
		}
		if len(ready) > 0 {
			g.let(ready)
			continue
		}
		select {
		case <-g.news:
		case <-g.stop:
			return
		}
	}
}

// ready returns the parked calls of hosts that are not paused, in a fixed order.
func (g *gate) ready() []*call {
	g.srv.mu.Lock()
	defer g.srv.mu.Unlock()
	var list []*call
	for _, c := range g.parked {
		if !c.host.paused {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (g *gate) let(ready []*call) {
	view := make([]Call, len(ready))
	for i, c := range ready {
		view[i] = c.Call
	}
	p := g.sched.Next(view)
	c := ready[p.Index]
	g.srv.mu.Lock()
	defer g.srv.mu.Unlock()
	i := slices.Index(g.parked, c)
	if i < 0 {
		return // its host crashed meanwhile
	}
	g.parked = slices.Delete(g.parked, i, i+1)
	g.picks = append(g.picks, p)
	if p.Fault.Kind != 0 {
		c.fault, c.armed = p.Fault.normal(), true
	}
	g.srv.exec(c)
	close(c.done)
}

// evict answers the parked calls of a host that has crashed.
func (g *gate) evict(h *Host) {
	g.parked = slices.DeleteFunc(g.parked, func(c *call) bool {
		if c.host != h {
			return false
		}
		c.err, c.retry, c.blocked = ErrCrashed, false, false
		close(c.done)
		return true
	})
}
