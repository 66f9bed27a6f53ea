// Package runner decides who works on what, when: it walks the queues for lists
// with work, takes a list's lock where it can, hands the entries to their stages,
// and goes on to the next list when the time slice is over.
//
// Several hosts run it over one share; the list's lock keeps them apart, the fence
// behind it makes a mistaken lock harmless, and whatever a host leaves undone is
// found by the others' next walk.
package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/clock"
	"qrunner/queue"
	"qrunner/queue/spool"
	"qrunner/queue/trace"
)

// Config is what a Runner needs.
type Config struct {
	Store  *store.Store
	Spool  *spool.Spool
	Stages map[queue.Name]queue.Processor
	// Trace gets one event for each entry; nil for none.
	Trace func(context.Context, trace.Event)
	// Published is told of each queue that got children; nil for nobody.
	Published func(queue.Name)
	Host      string
	Clock     clock.Clock
	// Slice is how long a list is worked on before the next has its turn
	// (default 10 s), Poll the time between two walks (1 s, jittered by a third),
	// Drain how long work in hand may take once the context has ended (30 s),
	// Stage how long a stage may take over one entry (5 min).
	Slice, Poll, Drain, Stage time.Duration
	// Workers is how many lists are worked on at the same time (default 4).
	Workers int
	Log     *slog.Logger
}

// Runner is the loop. Make it with New, start it with Run, once.
type Runner struct {
	cfg    Config
	wake   chan lists.ID
	work   chan lists.ID
	done   chan result
	failed map[queue.Name]time.Time // queues that could not be walked, for the one walk at a time
	hidden hidden
}

// result is what a worker reports of one turn at one list.
type result struct {
	list lists.ID
	more bool  // the slice ended before the work did
	err  error // trouble: try again later
}

// New fills in the defaults. It does no I/O.
func New(c Config) *Runner {
	c.Slice = cmp.Or(c.Slice, 10*time.Second)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.Stage = cmp.Or(c.Stage, 5*time.Minute)
	c.Workers = cmp.Or(c.Workers, 4)
	if c.Trace == nil {
		c.Trace = func(context.Context, trace.Event) {}
	}
	if c.Published == nil {
		c.Published = func(queue.Name) {}
	}
	return &Runner{cfg: c, wake: make(chan lists.ID, 1024), work: make(chan lists.ID), done: make(chan result), failed: map[queue.Name]time.Time{}, hidden: hidden{since: map[queue.ID]time.Time{}}}
}

// Wake says that a list has new work on this host. It never blocks: a wake that is
// lost is made good by the next walk.
func (r *Runner) Wake(id lists.ID) {
	select {
	case r.wake <- id:
	default:
	}
}

// Run works until ctx ends, then lets the work in hand end (at most Drain) and
// returns nil.
func (r *Runner) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range r.cfg.Workers {
		workers.Go(func() { r.worker(ctx) })
	}
	r.schedule(ctx)
	workers.Wait()
	return nil
}

// schedule owns the agenda; everything comes to it by channels.
func (r *Runner) schedule(ctx context.Context) {
	a := newAgenda()
	found := make(chan []lists.ID)
	tick := time.NewTimer(0)
	defer tick.Stop()
	var walking sync.WaitGroup
	defer walking.Wait()
	busy := 0
	for ctx.Err() == nil || busy > 0 {
		var out chan lists.ID
		next, ok := a.next(time.Now())
		if ok && ctx.Err() == nil {
			out = r.work
		}
		ended := ctx.Done()
		if ctx.Err() != nil {
			ended = nil // only waiting for workers now
		}
		select {
		case <-ended:
		case id := <-r.wake:
			a.wake(id)
		case out <- next:
			a.start(next)
			busy++
		case res := <-r.done:
			busy--
			r.finish(ctx, a, res)
		case ids := <-found:
			a.addAll(ids)
			tick.Reset(r.jittered())
		case <-tick.C:
			walking.Go(func() {
				ids := r.walk(ctx)
				select {
				case found <- ids:
				case <-ctx.Done():
				}
			})
		}
	}
	close(r.work)
}

func (r *Runner) finish(ctx context.Context, a *agenda, res result) {
	a.stop(res.list, res.more)
	if res.err == nil {
		if a.clear(res.list) {
			r.cfg.Log.InfoContext(ctx, "list is worked on again", "list", res.list)
		}
		return
	}
	if first, pause := a.pause(res.list, time.Now(), errors.As(res.err, new(*leftError))); first {
		r.cfg.Log.WarnContext(ctx, "list is left for now", "list", res.list, "pause", pause, "err", res.err)
	}
}

// jittered spreads the hosts' walks.
func (r *Runner) jittered() time.Duration {
	third := r.cfg.Poll / 3
	return r.cfg.Poll - third + rand.N(2*third+1)
}

func (r *Runner) worker(ctx context.Context) {
	for id := range r.work {
		more, err := r.turn(ctx, id)
		r.done <- result{list: id, more: more, err: err}
	}
}

// walk lists the queues, not the lists: an idle list costs nothing.
func (r *Runner) walk(ctx context.Context) []lists.ID {
	seen := map[lists.ID]bool{}
	var out []lists.ID
	for _, q := range queue.ListQueues {
		if r.cfg.Stages[q] == nil || ctx.Err() != nil {
			continue
		}
		ids, err := r.cfg.Spool.Lists(ctx, q)
		if err != nil {
			if !errors.Is(err, context.Canceled) && r.news(q, time.Now()) {
				r.cfg.Log.WarnContext(ctx, "walk queue", "queue", q, "err", err)
			}
			continue
		}
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

// calm is how long a trouble must be over before its return is news.
const calm = time.Minute

// news reports whether a queue's trouble is a new episode: one is one line in the log.
func (r *Runner) news(q queue.Name, now time.Time) bool {
	last, known := r.failed[q]
	r.failed[q] = now
	return !known || now.Sub(last) > calm
}
