package fanout

import (
	"context"
	"errors"
	"fmt"
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

// turn does one piece of work on a fan-out: one range, or what a mark says.
func (s *Sender) turn(ctx context.Context, t turn) result {
	r := result{turn: t}
	err := s.step(ctx, &r)
	var site *queue.SiteError
	var corrupt *spool.CorruptError
	switch {
	case err == nil, ctx.Err() != nil:
		s.known.with(t.id, func(e *entry) { e.slips = 0 })
		return r
	case errors.As(err, &site):
		r.site = site
		return r
	case errors.Is(err, errMoved), errors.Is(err, locking.ErrHeld), errors.Is(err, locking.ErrLost):
		r.until = time.Now().Add(heldNap)
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
		rng := rangeName(i)
		end, ok, err := readEnd(s.c.FS, u.dir()+"/"+journalName(rng, v.last(rng)))
		if err != nil {
			return nil, moved(err)
		}
		if ok && end.round == v.round {
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
		return errMoved
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

// settle carries out the mark that was just made.
func (s *Sender) settle(ctx context.Context, r *result) error {
	v, err := s.look(r.unit)
	if errors.Is(err, errMoved) {
		r.gone = true
		return nil
	}
	if err != nil || (!v.over && !v.finished) {
		return err
	}
	r.gone = true
	return s.carryOut(ctx, r.unit, v)
}

// parkNow sends a fan-out to shunt/.
func (s *Sender) parkNow(ctx context.Context, u unit, cause string) error {
	d, err := s.c.FS.OpenDir(u.dir())
	if err != nil {
		return moved(err)
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return moved(err)
	}
	if !v.over && !v.finished {
		if err := s.mark(d, roundName(v.round), record{kind: park, text: cause}); err != nil {
			return moved(err)
		}
		v.over = true
	}
	return s.carryOut(ctx, u, v)
}

// errPoison is the cause of a fan-out that nobody gets on with.
var errPoison = errors.New("three deliveries in a row were begun and got nowhere")

// maxBarren is after how many such journals a folder goes to shunt/.
const maxBarren = 3

// work delivers the claimed range and returns its end record.
func (c *claim) work(ctx context.Context, r *result) (record, error) {
	fan, all, err := spool.ReadFanout(ctx, c.s.c.FS, c.unit.dir())
	if err != nil {
		return record{}, moved(err)
	}
	if err := c.load(ctx, fan, all); err != nil {
		return record{}, err
	}
	switch {
	case c.tally.ended:
		return record{}, fmt.Errorf("%w: range is over", errMoved)
	case c.tally.barren >= maxBarren:
		r.gone = true
		return record{}, c.s.parkNow(ctx, c.unit, errPoison.Error())
	}
	if err := c.orphans(ctx); err != nil {
		return record{}, err
	}
	if err := c.roster(ctx); err != nil {
		return record{}, err
	}
	tail, finished, err := c.deliver(ctx, c.tally.open(c.s.time.now().Add(c.slack())))
	if err == nil && !finished {
		err = context.Cause(ctx)
	}
	if err != nil {
		return record{}, errors.Join(err, c.keep(tail))
	}
	return c.end(ctx, tail)
}

// closeAll checks that every range is over, by a listing of the claim's own, and
// closes the round.
func (c *claim) closeAll(ctx context.Context, n int) error {
	fan, all, err := spool.ReadFanout(ctx, c.s.c.FS, c.unit.dir())
	if err != nil {
		return moved(err)
	}
	if err := c.load(ctx, fan, all); err != nil {
		return err
	}
	if c.tally.barren >= maxBarren {
		return c.s.mark(c.dir, roundName(c.view.round), record{kind: park, text: errPoison.Error()})
	}
	if err := c.orphans(ctx); err != nil {
		return err
	}
	ends := make([]record, n)
	for i := range n {
		rng := rangeName(i)
		end, ok, err := readEnd(c.s.c.FS, c.unit.dir()+"/"+journalName(rng, c.view.last(rng)))
		if err != nil {
			return moved(err)
		}
		if !ok || end.round != c.view.round {
			return fmt.Errorf("%w: range %s is open", errMoved, rng)
		}
		ends[i] = end
	}
	return c.close(ctx, ends)
}
