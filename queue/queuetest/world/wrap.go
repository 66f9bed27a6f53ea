package world

import (
	"context"

	"qrunner/queue"
)

// The wrappers through which the book learns what happens.

// noting tells the book which message an entry is, before its stage sees it.
type noting struct {
	b *book
	queue.Processor
}

// Process implements queue.Processor.
func (n *noting) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	n.b.entry(w.Entry)
	return n.Processor.Process(ctx, w)
}

// door is intake's way to the spool.
type door struct{ h *Host }

// Put implements intake.Spool.
func (d *door) Put(ctx context.Context, e *queue.Entry) (queue.ID, error) {
	id, err := d.h.spool.Put(ctx, e)
	if err == nil {
		e.ID = id
		d.h.w.book.entry(e)
	}
	return id, err
}

// transport is a host's way to the smarthost.
type transport struct{ h *Host }

// Acquire implements queue.Transport.
func (t *transport) Acquire(ctx context.Context) (queue.Conn, error) {
	c, err := t.h.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{t.h, c}, nil
}

// MaxRecipients implements queue.Transport.
func (t *transport) MaxRecipients() int { return t.h.pool.MaxRecipients() }

type conn struct {
	h *Host
	queue.Conn
}

// Send implements queue.Conn.
func (c *conn) Send(ctx context.Context, t *queue.Transaction) []queue.Reply {
	c.h.w.book.sending(c.h.id.Host, t)
	replies := c.Conn.Send(ctx, t)
	if c.h.sim.Context().Err() == nil {
		c.h.w.book.told(t, replies)
	}
	return replies
}
