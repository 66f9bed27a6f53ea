package fanout

import (
	"context"
	"errors"
	"time"

	"qrunner/locking"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// result is what a worker reports of a turn.
type result struct {
	turn
	gone  bool      // nothing is left of the entry in out/
	until time.Time // nothing to do for us before
	site  *queue.SiteError
	up    bool // the smarthost gave us a connection
}

// naps after which an entry is looked at again: when its ranges are in other hands,
// and, doubled from the first to the longest, after trouble.
const (
	heldNap  = time.Second
	firstNap = time.Second
	maxNap   = time.Minute
)

// manyVain is after how many claims withdrawn in a row there is a line in the log.
const manyVain = 8

// turn does one piece of work on a fan-out: one range, or what a mark says.
func (s *Sender) turn(ctx context.Context, t turn) result {
	r := result{turn: t}
	err := s.step(ctx, &r)
	var site *queue.SiteError
	var corrupt *spool.CorruptError
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, errSlice):
		s.known.with(t.id, func(e *entry) { e.slips, e.vain = 0, 0 })
		return r
	case errors.As(err, &site):
		r.site = site
		return r
	case errors.Is(err, locking.ErrHeld), errors.Is(err, locking.ErrLost):
		r.until = time.Now().Add(heldNap)
		return r
	case errors.Is(err, errMoved):
		r.until = s.vain(ctx, t, err)
		return r
	case errors.As(err, &corrupt):
		if err = s.parkNow(ctx, t.unit, err.Error()); err == nil {
			r.gone = true
			return r
		}
	}
	slips := 0
	s.known.with(t.id, func(e *entry) { slips, e.slips = e.slips, e.slips+1 })
	if slips == 0 {
		s.c.Log.WarnContext(ctx, "fan-out is left for now", "list", t.list, "entry", t.id, "err", err)
	}
	r.until = time.Now().Add(min(firstNap<<min(slips, 10), maxNap))
	return r
}

// vain returns until when an entry sleeps whose claim was withdrawn. That happens in the
// course of things, but each claim leaves a journal: one that never succeeds must not
// fill the folder, and is told once.
func (s *Sender) vain(ctx context.Context, t turn, err error) time.Time {
	vain := 0
	s.known.with(t.id, func(e *entry) { vain, e.vain = e.vain, e.vain+1 })
	if vain == manyVain {
		s.c.Log.WarnContext(ctx, "fan-out's claims are withdrawn", "list", t.list, "entry", t.id, "count", vain+1, "err", err)
	}
	return time.Now().Add(min(heldNap<<min(vain, 10), maxNap))
}

// look lists a fan-out's folder, and remembers which ranges are over.
func (s *Sender) look(u unit) (*view, error) {
	d, err := s.c.FS.OpenDir(u.dir())
	if err != nil {
		return nil, moved(err)
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return nil, moved(err)
	}
	var doubtful []int
	s.known.with(u.id, func(e *entry) {
		e.enter(v.round)
		for rng := range v.journals {
			if _, over := e.ended[number(rng)]; rng != closing && !over && !e.busy[number(rng)] {
				doubtful = append(doubtful, number(rng))
			}
		}
	})
	for _, i := range doubtful {
		end, ok, err := s.rangeEnd(u, v, rangeName(i))
		if err != nil {
			return nil, err
		}
		if ok {
			s.over(u, i, end)
		}
	}
	return v, nil
}

// over remembers that a range has ended.
func (s *Sender) over(u unit, i int, end record) {
	s.known.with(u.id, func(e *entry) {
		if e.round == end.round {
			e.ended[i] = end
		}
	})
}

// step looks at the folder and does the first thing there is to do.
func (s *Sender) step(ctx context.Context, r *result) error {
	v, err := s.look(r.unit)
	if errors.Is(err, errMoved) {
		r.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	if v.finished || v.over {
		r.gone = true
		return s.carryOut(ctx, r.unit, v)
	}
	if !v.recipients {
		return errors.New("no recipients file, and no mark that says why")
	}
	n, err := s.ranges(ctx, r.unit)
	if err != nil {
		return err
	}
	for {
		i, ok, all := s.candidate(r.unit, n)
		if all {
			return s.closeRound(ctx, r, v, n)
		}
		if !ok {
			r.until = time.Now().Add(heldNap)
			return nil
		}
		err := s.try(ctx, r, v, i, n)
		if !errors.Is(err, locking.ErrHeld) {
			return err
		}
	}
}

// ranges counts the ranges of a fan-out.
func (s *Sender) ranges(ctx context.Context, u unit) (int, error) {
	count := -1
	s.known.with(u.id, func(e *entry) { count = e.count })
	if count < 0 {
		_, all, err := spool.ReadFanout(ctx, s.c.FS, u.dir())
		if err != nil {
			return 0, moved(err)
		}
		count = all.Len()
		s.known.with(u.id, func(e *entry) { e.count = count })
	}
	return (count + s.c.BatchSize - 1) / s.c.BatchSize, nil
}

func (s *Sender) candidate(u unit, n int) (i int, ok, all bool) {
	s.known.with(u.id, func(e *entry) {
		if i, ok, all = e.candidate(n, offset(s.c.Host, u.id, n), time.Now()); ok {
			e.busy[i] = true
		}
	})
	return i, ok, all
}

// try claims range i, which is marked busy, and works on it.
func (s *Sender) try(ctx context.Context, r *result, v *view, i, n int) error {
	err := s.claimed(ctx, r, v, i, n)
	s.known.with(r.id, func(e *entry) {
		delete(e.busy, i)
		if errors.Is(err, locking.ErrHeld) {
			e.held[i] = time.Now().Add(heldNap)
		}
	})
	if err != nil || r.gone || n == 1 {
		return err
	}
	if v, err = s.look(r.unit); err != nil {
		return err
	}
	if _, _, all := s.candidateOnly(r.unit, n); all && !v.over {
		return s.closeRound(ctx, r, v, n)
	}
	return nil
}

// candidateOnly is candidate without taking it.
func (s *Sender) candidateOnly(u unit, n int) (i int, ok, all bool) {
	s.known.with(u.id, func(e *entry) { i, ok, all = e.candidate(n, 0, time.Now()) })
	return i, ok, all
}

// claimed does the work on one range. The smarthost is asked first: a dead one costs
// no claim.
func (s *Sender) claimed(ctx context.Context, r *result, v *view, i, n int) error {
	conn, err := s.c.Transport.Acquire(ctx)
	if err != nil {
		return err
	}
	conn.Release()
	r.up = true
	c, err := s.take(ctx, r.unit, rangeName(i), v)
	if err != nil {
		return err
	}
	cctx, cancel := leased(ctx, c.lease)
	defer cancel()
	end, err := c.work(cctx, r)
	if err != nil || r.gone {
		c.drop(ctx, why(err))
		return err
	}
	s.over(r.unit, i, end)
	if n == 1 {
		err = c.close(cctx, []record{end})
	}
	c.drop(ctx, "")
	if err == nil && n == 1 {
		err = s.settle(ctx, r)
	}
	return err
}

func why(err error) string {
	if err == nil {
		return "moved"
	}
	return err.Error()
}

// leased is ctx while the lease is held.
func leased(ctx context.Context, l locking.Lease) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.Context(), func() { cancel(context.Cause(l.Context())) })
	return out, func() { stop(); cancel(nil) }
}

// closeRound ends a round of several ranges.
func (s *Sender) closeRound(ctx context.Context, r *result, v *view, n int) error {
	c, err := s.take(ctx, r.unit, closing, v)
	if err != nil {
		return err
	}
	cctx, cancel := leased(ctx, c.lease)
	defer cancel()
	err = c.closeAll(cctx, n)
	c.drop(ctx, why(err))
	if err != nil {
		return err
	}
	return s.settle(ctx, r)
}

// settle carries out the mark that was just made. One that a listing does not show yet
// waits for the next turn, which must not come at once: nothing would have changed.
func (s *Sender) settle(ctx context.Context, r *result) error {
	v, err := s.look(r.unit)
	if errors.Is(err, errMoved) {
		r.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	if !v.over && !v.finished {
		r.until = time.Now().Add(heldNap)
		return nil
	}
	r.gone = true
	return s.carryOut(ctx, r.unit, v)
}
