package lockfile

import (
	"context"
	"time"
)

// burst bounds how many grants, and for how long, the goroutines of one process hand
// a key to each other before everybody else has a chance.
const (
	burstGrants = 8
	burstTime   = 5 * time.Second
)

// waiter is a goroutine in a key's queue.
type waiter struct {
	turn  chan struct{} // closed when it is let in
	life  time.Duration
	note  string
	baton *baton // set before turn is closed; nil: it has to win the lock itself
}

// baton is a lock that passes from one goroutine to the next while it is held. To the
// share nothing happens: it stays the same incarnation, on the same claim.
type baton struct {
	claim *claim
	t0    time.Duration // by Mono, before the look that found it ours
	now   time.Time     // the server's time at that look
	leave func()        // gives the local gate back; nil without
}

// enter waits for the key's turn within this process. With the turn may come the lock.
func (a *attempt) enter(ctx context.Context) error {
	l := a.l
	l.mu.Lock()
	a.slot = l.slot(a.key)
	if !a.slot.busy {
		a.slot.busy = true
		l.mu.Unlock()
		return nil
	}
	w := &waiter{turn: make(chan struct{}), life: a.opts.Lifetime, note: a.opts.Note}
	a.slot.queue = append(a.slot.queue, w)
	l.mu.Unlock()
	select {
	case <-w.turn:
		a.take(w.baton)
		return nil
	case <-ctx.Done():
	}
	if l.unqueue(a.slot, w) {
		return context.Cause(ctx)
	}
	<-w.turn // it was our turn already: pass it on
	a.take(w.baton)
	a.abandon()
	return context.Cause(ctx)
}

// take makes the baton's lock the attempt's.
func (a *attempt) take(b *baton) {
	if b != nil {
		a.claim, a.t0, a.now, a.leave = b.claim, b.t0, b.now, b.leave
		a.handed, a.unsure = true, true // abandon gives it back
	}
}

// unqueue takes w out of the queue; false if it is no longer in it.
func (l *Locker) unqueue(s *slot, w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range s.queue {
		if v == w {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			return true
		}
	}
	return false
}

// pass hands the lock, still held, to whoever of this process has waited longest,
// which saves making, linking and removing all the names. It does so for as long as a
// burst lasts, and only after a look (the ownership rule, afresh) that found it ours;
// the next one then goes through a grant of its own, with a fence and another look. The
// record on the share cannot change, so the next one's lifetime and note must be those
// that stand in it.
func (le *Lease) pass() bool {
	l, s := le.l, le.slot
	if !l.passable(le) {
		return false
	}
	b := &baton{claim: le.claim, t0: l.cfg.Mono(), leave: le.leave}
	found, err := l.owns(le.paths, le.claim, false)
	if err != nil || !found.owner {
		return false // release finds out what is to be said
	}
	b.now = found.now
	l.mu.Lock()
	if len(s.queue) == 0 || !s.queue[0].fits(le) {
		l.mu.Unlock()
		return false
	}
	w := s.pop()
	l.count.HandOvers++
	l.mu.Unlock()
	l.event(Event{Kind: EventReleased, Key: le.paths.key, Token: le.Token()})
	w.let(b)
	return true
}

// passable reports whether pass is worth a look.
func (l *Locker) passable(le *Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := le.slot
	return len(s.queue) > 0 && s.queue[0].fits(le) &&
		s.burst < burstGrants && l.cfg.Mono()-s.first < burstTime
}

// fits reports whether the lease's record speaks for w too.
func (w *waiter) fits(le *Lease) bool {
	return w.life == le.claim.rec.Lifetime && w.note == le.claim.rec.Note
}

// pop takes the first out of the queue; the caller holds mu.
func (s *slot) pop() *waiter {
	w := s.queue[0]
	s.queue = s.queue[1:]
	return w
}

// let lets w in.
func (w *waiter) let(b *baton) {
	w.baton = b
	close(w.turn)
}

// handOver leaves the key, after the lock was given back, to the next one. With foreign
// claims in the folder, and nobody queued here or the burst over, this whole machine
// stands back for one and a half sleeps, in which every waiting host has tried.
func (l *Locker) handOver(s *slot, leave func(), foreign bool) {
	pass := func() {
		if leave != nil {
			leave()
		}
		l.leave(s)
	}
	if !foreign {
		s.burst = 0
		pass()
		return
	}
	if l.waiting(s) && s.burst < burstGrants && l.cfg.Mono()-s.first < burstTime {
		pass()
		return
	}
	s.burst = 0
	time.AfterFunc(l.cfg.Base*3/2, pass)
}
