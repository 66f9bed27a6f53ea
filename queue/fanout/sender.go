package fanout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"qrunner/queue"
)

// Sender works on the queues out and retry. Make it with New, start it with Run, once.
type Sender struct {
	c       Config
	time    serverTime
	known   known
	alerts  alerts
	wake    chan struct{}
	work    chan turn
	results chan result
	// finished takes folders in done/ that are to be deleted.
	finished chan string
	owed     chan owed
	lists    atomic.Int64 // how many have mail in out/
}

// New fills in the defaults. It does no I/O.
func New(c Config) *Sender {
	c = c.withDefaults()
	return &Sender{
		c: c, time: serverTime{local: c.Clock},
		known:  known{entries: map[queue.ID]*entry{}},
		alerts: alerts{seen: map[string]episode{}},
		wake:   make(chan struct{}, 1), work: make(chan turn), results: make(chan result), finished: make(chan string, toDelete), owed: make(chan owed, maxOwed),
	}
}

// Wake says that there is new work on this host. It never blocks.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends; then transactions in flight are finished and journaled
// (at most Drain), claims are given back, and it returns nil.
func (s *Sender) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range s.c.Workers {
		workers.Go(func() {
			for t := range s.work {
				s.results <- s.turn(ctx, t)
			}
		})
	}
	workers.Go(func() { s.sweep(ctx) })
	s.schedule(ctx)
	close(s.work)
	workers.Wait()
	return nil
}

// schedule owns the agenda and the breaker; everything comes to it by channels.
func (s *Sender) schedule(ctx context.Context) {
	p := &planner{s: s, agenda: newAgenda()}
	found := make(chan []look)
	tick := time.NewTimer(0)
	defer tick.Stop()
	walker := newWalker(s)
	var walking sync.WaitGroup
	defer walking.Wait()
	again, busy := false, false
	walk := func() {
		busy, again = true, false
		walking.Go(func() {
			select {
			case found <- walker.walk(ctx):
			case <-ctx.Done():
			}
		})
	}
	for {
		p.dispatch(ctx)
		ended := ctx.Done()
		if ctx.Err() != nil {
			if p.busy == 0 {
				return
			}
			ended = nil
		}
		select {
		case <-ended:
		case r := <-s.results:
			p.finish(ctx, r)
		case looks := <-found:
			busy = false
			p.agenda.update(looks)
			s.lists.Store(int64(len(p.agenda.ring)))
			tick.Reset(s.jittered())
			if again {
				walk()
			}
		case <-s.wake:
			if again = true; !busy && ctx.Err() == nil {
				walk()
			}
		case <-tick.C:
			if !busy && ctx.Err() == nil {
				walk()
			}
		}
	}
}

// jittered spreads the hosts' walks.
func (s *Sender) jittered() time.Duration {
	third := s.c.Poll / 3
	return s.c.Poll - third + rand.N(2*third+1)
}

func (s *Sender) random() string { return fmt.Sprintf("%s.%016x", s.c.Host, rand.Uint64()) }
