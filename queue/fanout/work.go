package fanout

import (
	"context"
	"errors"
	"fmt"

	"qrunner/queue/spool"
)

// errPoison is the cause of a fan-out that nobody gets on with.
var errPoison = errors.New("six deliveries in a row were begun and got nowhere")

// maxBarren is after how many such journals a folder goes to shunt/. It is more than the
// tries that an entry of another queue gets (three that are marked, and the first): one that
// takes down host after host must not take along what they were delivering.
const maxBarren = 6

// work delivers the claimed range and returns its end record.
func (c *claim) work(ctx context.Context, r *result) (record, error) {
	fan, all, err := spool.ReadFanout(ctx, c.s.c.FS, c.unit.dir())
	if err != nil {
		return record{}, moved(err)
	}
	if err := c.load(ctx, fan, all); err != nil {
		return record{}, err
	}
	if c.tally.barren >= maxBarren && !c.tally.ended {
		r.gone = true
		return record{}, c.s.parkNow(ctx, c.unit, errPoison.Error())
	}
	if err := c.orphans(ctx); err != nil {
		return record{}, err
	}
	if c.tally.ended {
		// A former owner ended the range and did not learn that it had. Our journal
		// is the last one now, and that is where all look for the end.
		sum := c.summary()
		return sum, c.j.commit(sum)
	}
	if err := c.roster(ctx); err != nil {
		return record{}, err
	}
	if c.own, err = c.s.c.Copies(ctx, fan); err != nil {
		return record{}, err
	}
	defer c.release()
	tail, finished, err := c.deliver(ctx, c.tally.open(c.s.time.now().Add(c.slack())))
	if err == nil && !finished {
		err = context.Cause(ctx)
	}
	if err != nil {
		return record{}, errors.Join(err, c.keep(ctx, tail))
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
		return mark(c.s.c.FS, c.dir, roundName(c.view.round), record{kind: park, text: errPoison.Error()})
	}
	if err := c.orphans(ctx); err != nil {
		return err
	}
	ends := make([]record, n)
	for i := range n {
		rng := rangeName(i)
		end, ok, err := c.s.rangeEnd(c.unit, c.view, rng)
		if err != nil {
			return err
		}
		if !ok { // whatever we remember of it
			c.s.known.with(c.unit.id, func(e *entry) { delete(e.ended, i) })
			return fmt.Errorf("%w: range %s is open", errMoved, rng)
		}
		ends[i] = end
	}
	return c.close(ctx, ends)
}
