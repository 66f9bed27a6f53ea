package smtpout

import (
	"context"
	"errors"
	"os"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

var _ queue.Conn = (*Conn)(nil)

// Conn is a connection lent by a Pool: a queue.Conn.
type Conn struct {
	pool  *Pool
	s     *session // nil after Release
	probe bool     // the host's breaker waits for what we find out
}

// Send runs one transaction and returns one Reply per recipient, in order. t.Raw is
// not changed, nor kept. A reused connection that turns out to be closed before MAIL
// is answered is replaced once: nothing can have been accepted.
//
// Local refusals (no SMTPUTF8, over SIZE) have the phase mail and the codes 550 5.6.7
// and 552 5.3.4. A reply with a phase before mail means that the smarthost could not
// be reached again.
func (c *Conn) Send(ctx context.Context, t *queue.Transaction) []queue.Reply {
	x := &transaction{t: t, replies: make([]queue.Reply, len(t.Recipients))}
	switch {
	case len(t.Recipients) == 0:
		return x.replies
	case c.s == nil || c.s.gone:
		x.settle(queue.Reply{Phase: queue.PhaseConnect, Text: "the connection is broken"})
	case ctx.Err() != nil:
		x.settle(queue.Reply{Phase: queue.PhaseMail, Text: context.Cause(ctx).Error()})
	case t.XVERP && !c.s.ext.xverp:
		c.oneByOne(ctx, t, x.replies)
		return x.replies
	default:
		x.body = c.pool.bodies.get(t.Raw)
		if c.attempt(ctx, x) && c.reopen(ctx, x) {
			c.attempt(ctx, x)
		}
	}
	c.pool.stats.count(x.replies)
	return x.replies
}

// oneByOne is a transaction with XVERP for a smarthost that lacks it. After a break the
// rest is as if it had never been begun.
func (c *Conn) oneByOne(ctx context.Context, t *queue.Transaction, replies []queue.Reply) {
	for i, rcpt := range t.Recipients {
		one := *t
		one.Recipients, one.XVERP = t.Recipients[i:i+1], false
		one.Sender = mailaddr.EncodeVERP(t.Sender, rcpt, 0)
		replies[i] = c.Send(ctx, &one)[0]
	}
}

// attempt runs x on the session at hand. It reports a stale session: then nothing is
// settled, and another may be tried.
func (c *Conn) attempt(ctx context.Context, x *transaction) (stale bool) {
	s := c.s
	*x = transaction{session: s, t: x.t, body: x.body, replies: x.replies}
	if !x.refuse() {
		return false
	}
	reused := s.sent > 0 || s.idle != nil
	s.sent++
	end := s.begin(ctx)
	err := x.run()
	s.gone = !end() || err != nil || !s.quiet()
	switch {
	case x.answered:
		c.pool.worked(s.host)
		c.probe = false
	case ctx.Err() != nil || err == nil:
	case reused && !errors.Is(err, os.ErrDeadlineExceeded):
		return true
	default:
		c.failed()
	}
	if err != nil {
		x.fail(err)
	}
	return false
}

// reopen replaces a stale session by a new one to the same host.
func (c *Conn) reopen(ctx context.Context, x *transaction) bool {
	h := c.s.host
	c.pool.stats.stale.Add(1)
	c.pool.drop(c.s)
	var s *session
	var err error
	if wait := h.breaker.wait(); wait > 0 && !c.probe {
		err = errOpen(h.addr, wait)
	} else if s, err = c.pool.open(ctx, h); err == nil {
		c.s = s
		return true
	}
	x.phase = queue.PhaseConnect
	if site, ok := errors.AsType[*queue.SiteError](err); ok {
		x.phase = site.Phase
		if err = site.Err; err == nil { // the phase goes with the reply
			err = closing{site.Reply}
		}
		if ctx.Err() == nil && site.RetryAfter == 0 {
			c.failed()
		}
	}
	x.fail(err)
	return false
}

func (c *Conn) failed() {
	c.pool.failed(c.s.host, c.probe)
	c.probe = false
}

// Broken reports that no further transaction can be run: the connection broke, or
// it was used MaxMessages times.
func (c *Conn) Broken() bool {
	return c.s == nil || c.s.gone || c.s.spent()
}

// Release gives the connection back; c must not be used again.
func (c *Conn) Release() {
	if c.s == nil {
		return
	}
	s := c.s
	c.s = nil
	if c.probe {
		s.host.breaker.abandon()
	}
	c.pool.release(s)
}
