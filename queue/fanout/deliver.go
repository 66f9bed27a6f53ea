package fanout

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
	"qrunner/queue/retry"
)

// deliver sends to the recipients given, over several connections, and returns the
// results that are not journaled yet: the claim's last ones, which go with what
// ends the range. all is false if transactions were left out: because of ctx, the
// smarthost (*queue.SiteError), the journal or the lease (err).
func (c *claim) deliver(ctx context.Context, numbers []int) (tail []record, all bool, err error) {
	c.prepare()
	size := c.s.c.Transport.MaxRecipients()
	if c.fan.VERP || c.own != nil {
		size = 1
	}
	j := c.plan(numbers, max(size, 1))
	began := time.Now()
	j.over = func() bool { return time.Since(began) > c.s.c.Slice && c.s.lists.Load() > 1 }
	c.doubts(ctx, numbers)
	sctx, cancel := c.flightContext(ctx)
	defer cancel()
	var wg sync.WaitGroup
	last := make(chan []record, 1)
	for range min(c.s.c.Conns, len(j.waiting)) {
		wg.Go(func() {
			if err := c.connection(ctx, sctx, j, last); err != nil {
				j.stop(err)
			}
		})
	}
	wg.Wait()
	select {
	case tail = <-last:
	default:
	}
	for _, r := range c.news {
		c.tally.record(r, true)
	}
	c.news = nil
	all, err = j.end()
	return tail, all, err
}

// plan cuts the recipients into transactions. Where the smarthost makes VERP senders,
// those for whom it can share one.
func (c *claim) plan(numbers []int, size int) *jobs {
	ascii := func(n int) bool { return c.rcpt(n).Address.ASCII() }
	v, ok := c.s.c.Transport.(queue.VERPTransport)
	c.xverp = ok && c.fan.VERP && c.fan.Readable && c.own == nil && v.XVERP()
	if !c.xverp {
		return plan(numbers, size, ascii)
	}
	var theirs, ours []int
	for _, n := range numbers {
		if c.leaves(n) {
			theirs = append(theirs, n)
		} else {
			ours = append(ours, n)
		}
	}
	j := plan(theirs, max(v.MaxRecipients(), 1), ascii)
	rest := plan(ours, size, ascii)
	j.waiting, j.left = append(j.waiting, rest.waiting...), j.left+rest.left
	return j
}

// leaves reports whether the smarthost makes the envelope sender for a recipient.
func (c *claim) leaves(n int) bool {
	_, ok := mailaddr.ReadableVERP(c.fan.Bounces, c.rcpt(n).Address)
	return c.xverp && ok
}

// prepare makes the message ready for the wire.
func (c *claim) prepare() {
	m := message.Parse(c.fan.Raw)
	c.msgid = m.Get("Message-ID")
	c.raw = m.Wire()
	c.utf8 = c.fan.UTF8 && !plainHeader(c.raw)
}

// flightContext is the context of transactions in flight: it outlives ctx by the
// drain time, and does not end with the lease, since what was said cannot be unsaid.
func (c *claim) flightContext(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(c.s.c.Drain)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-out.Done():
		}
	})
	return out, func() { stop(); cancel() }
}

// connection runs one connection's share of the transactions, each begun when the
// results before it are durable and the claim was seen after that. The connection
// goes back to the pool between transactions, so that claims share them fairly, but
// not before: what a crash can repeat is one transaction for each.
func (c *claim) connection(ctx, flight context.Context, j *jobs, last chan<- []record) error {
	var results []record
	var conn queue.Conn
	var scratch []byte
	for {
		job, more := j.next(ctx)
		if !more && len(results) == 0 {
			return nil
		}
		if more {
			results = append(results, record{kind: start, set: makeSet(job...)})
		}
		err := c.j.commit(results...)
		giveBack(conn)
		if err != nil {
			c.lost(ctx, results, err)
			return err
		}
		if !more {
			return nil
		}
		var replies []queue.Reply
		if conn, replies, err = c.transaction(ctx, flight, job, &scratch); err != nil {
			return err // never begun: the claim's quit line says so
		}
		if r := replies[0]; r.Code == 0 && retry.Judge(r, retry.Facts{}) == retry.Site {
			giveBack(conn)
			results, conn = nil, nil
			j.back(job, r)
			continue
		}
		var again []int
		results, again = c.results(ctx, job, replies)
		if j.done(again) {
			c.last = conn
			last <- results
			return nil
		}
	}
}

// giveBack returns a connection, if there is one.
func giveBack(conn queue.Conn) {
	if conn != nil {
		conn.Release()
	}
}

// release gives back the connection of the last transaction.
func (c *claim) release() { giveBack(c.last); c.last = nil }

// fresh is how long a look at the claim is good for.
const fresh = time.Second

// transaction sends the message to the recipients of one job. The caller gives the
// connection back, unless there is an error.
func (c *claim) transaction(ctx, flight context.Context, job []int, scratch *[]byte) (queue.Conn, []queue.Reply, error) {
	t, err := c.envelope(job, scratch)
	if err != nil {
		return nil, nil, err
	}
	asked := time.Now()
	conn, err := c.s.c.Transport.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	if time.Since(asked) > fresh {
		err = c.lease.Verify(ctx)
	}
	if err == nil {
		err = context.Cause(c.lease.Context())
	}
	if err != nil {
		conn.Release()
		return nil, nil, fmt.Errorf("claim before transaction: %w", err)
	}
	replies := conn.Send(flight, t)
	if len(replies) != len(job) {
		conn.Release()
		return nil, nil, fmt.Errorf("transport gave %d replies for %d recipients", len(replies), len(job))
	}
	return conn, replies, nil
}

// envelope makes the transaction of a job, in scratch where the copy is one of its own.
func (c *claim) envelope(job []int, scratch *[]byte) (*queue.Transaction, error) {
	t := &queue.Transaction{Sender: c.fan.Bounces, Raw: c.raw, Recipients: make([]mailaddr.Address, len(job))}
	for i, n := range job {
		t.Recipients[i] = c.rcpt(n).Address
		t.UTF8 = t.UTF8 || !t.Recipients[i].ASCII()
	}
	switch r := c.rcpt(job[0]); {
	case !c.fan.VERP:
	case c.leaves(job[0]):
		t.XVERP = true
	case c.fan.Readable:
		t.Sender = mailaddr.EncodeVERP(c.fan.Bounces, r.Address, uint64(r.Member))
	default:
		t.Sender = mailaddr.TokenVERP(c.fan.Bounces, r.Address, uint64(r.Member))
	}
	t.UTF8 = t.UTF8 || !t.Sender.ASCII() || c.utf8
	if c.own != nil {
		var err error
		if t.Raw, err = c.own.Copy(scratch, c.rcpt(job[0])); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// plainHeader reports whether the header is ASCII: then it needs no SMTPUTF8,
// whatever the message came with (RFC 6531 §3.4).
func plainHeader(raw []byte) bool {
	head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	return !bytes.ContainsFunc(head, func(r rune) bool { return r >= 0x80 })
}

// doubts logs who may get a second copy: their last transaction has no end.
func (c *claim) doubts(ctx context.Context, numbers []int) {
	for _, n := range numbers {
		if c.tally.at(n).doubt {
			c.log(ctx, slog.LevelWarn, "possible repeat: a former delivery was cut off", "rcpt", c.rcpt(n).Address)
			c.trace(ctx, n, "repeat", "a former delivery was cut off")
		}
	}
}

// lost logs results that could not be journaled: those recipients may get a second
// copy. When only the claim is lost, the journal has them.
func (c *claim) lost(ctx context.Context, results []record, err error) {
	for _, r := range results {
		if r.kind != sent {
			continue
		}
		r.set.each(c.tally.from, c.tally.to, func(n int) {
			c.log(ctx, slog.LevelWarn, "possible repeat: result not journaled", "rcpt", c.rcpt(n).Address, "err", err)
		})
	}
}
