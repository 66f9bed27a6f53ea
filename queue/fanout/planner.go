package fanout

import (
	"context"
	"time"

	"qrunner/queue"
)

// planner hands out turns. It belongs to the scheduler.
type planner struct {
	s          *Sender
	agenda     *agenda
	breaker    breaker
	busy, bulk int // turns in progress, and how many of them are posts'
}

// dispatch gives turns to the workers that are free. One worker is kept for notices.
func (p *planner) dispatch(ctx context.Context) {
	for ctx.Err() == nil && p.busy < p.s.c.Workers {
		now := time.Now()
		avoid, ok := p.breaker.allows(now, p.busy)
		if !ok {
			return
		}
		t, ok := p.agenda.next(now, p.bulk < max(p.s.c.Workers-1, 1), avoid)
		if !ok {
			return
		}
		p.busy++
		if !t.notice {
			p.bulk++
		}
		p.s.work <- t // a worker is free, or about to be
	}
}

// down is the trouble that the smarthost does not answer.
const down = "down"

// finish takes a turn's result.
func (p *planner) finish(ctx context.Context, r result) {
	p.busy--
	if !r.notice {
		p.bulk--
	}
	p.agenda.done(r.turn, r.gone, r.until)
	switch {
	case r.site != nil:
		p.breaker.fail(time.Now(), r.id, r.site.RetryAfter)
		p.s.alert(ctx, r.unit, down, r.site.Error())
	case r.up:
		p.s.recovered(ctx, down)
		if p.breaker.down {
			p.s.c.Log.InfoContext(ctx, "smarthost is back")
		}
		p.breaker = breaker{}
	}
}

// breaker stops a host's deliveries while the smarthost is not there. It counts
// failures before the MAIL reply only: those of one message never stop the others.
type breaker struct {
	down  bool
	until time.Time
	span  time.Duration
	last  queue.ID // the entry that failed last
}

// Waits between two probes, doubled from the first to the longest.
const (
	firstProbe = 5 * time.Second
	maxProbe   = 5 * time.Minute
)

// allows reports whether a turn may begin: any while the smarthost is up; while it
// is down one at a time, when the wait is over, with another entry than the last
// that failed.
func (b *breaker) allows(now time.Time, busy int) (avoid queue.ID, ok bool) {
	if !b.down {
		return "", true
	}
	return b.last, busy == 0 && !now.Before(b.until)
}

// fail counts a failure; it reports whether it is the first of an episode.
func (b *breaker) fail(now time.Time, id queue.ID, after time.Duration) bool {
	first := !b.down
	if first || !now.Before(b.until) { // others that were under way count once
		b.span = min(max(2*b.span, firstProbe), maxProbe)
		b.until = now.Add(max(b.span, after))
	}
	b.down, b.last = true, id
	return first
}
