package fanout

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"qrunner/queue"
	"qrunner/queue/retry"
	"qrunner/queue/trace"
)

// results turns one transaction's replies into records, equal ones together, and
// lists the recipients that need another transaction at once.
func (c *claim) results(ctx context.Context, job []int, replies []queue.Reply) (out []record, again []int) {
	accepted := 0
	for _, r := range replies {
		if r.Positive() {
			accepted++
		}
	}
	type same struct {
		class retry.Class
		reply queue.Reply
		tries int
		first time.Time
	}
	var order []same
	groups := map[same][]int{}
	for i, n := range job {
		g := same{class: retry.Judge(replies[i], retry.Facts{ASCII: c.rcpt(n).Address.ASCII(), Accepted: accepted}), reply: replies[i]}
		switch p := c.tally.at(n); g.class {
		case retry.Again:
			again = append(again, n)
			continue
		case retry.Defer, retry.Site:
			g.tries, g.first = p.tries, p.first
		}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], n)
	}
	for _, g := range order {
		r := c.result(g.class, g.reply, g.tries, g.first)
		r.set = makeSet(groups[g]...)
		c.tell(ctx, r)
		out = append(out, r)
	}
	c.mu.Lock()
	c.news = append(c.news, out...)
	c.mu.Unlock()
	return out, again
}

// result is the record of one class of reply.
func (c *claim) result(class retry.Class, reply queue.Reply, tries int, first time.Time) record {
	r := record{class: class, reply: reply}
	switch class {
	case retry.Done:
		r.kind = sent
	case retry.Refused:
		r.kind = refused
	case retry.Message:
		r.kind = judged
	default:
		r.kind = deferred
		r.when = c.s.time.now()
		r.due = c.due(r.when, tries, first)
	}
	return r
}

// due is when a recipient is tried again whose tries-th failure, counted from 0, is now.
func (c *claim) due(now time.Time, tries int, first time.Time) time.Time {
	age := time.Duration(0)
	if tries > 0 {
		age = now.Sub(first)
	}
	wait, _ := c.s.c.Policy.Next(tries+1, age, c.chance())
	return now.Add(wait)
}

// chance is the same for all recipients of a fan-out in a round, so that they stay
// together, and differs from fan-out to fan-out.
func (c *claim) chance() float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(c.unit.id) + roundName(c.view.round)))
	return float64(h.Sum32()) / (1 << 32)
}

// tell writes what happened to the log and the trace.
func (c *claim) tell(ctx context.Context, r record) {
	level, text := slog.LevelDebug, r.reply.String()
	if retry.Repeat(r.reply) {
		level = slog.LevelWarn
	}
	r.set.each(c.tally.from, c.tally.to, func(n int) {
		if level == slog.LevelWarn {
			c.log(ctx, level, "possible repeat: no answer to the final dot", "rcpt", c.rcpt(n).Address)
		}
		c.trace(ctx, n, string(r.kind), text)
	})
	if r.class == retry.Site {
		c.s.alert(ctx, c.unit, fmt.Sprint(r.reply.Code, r.reply.Phase), "the smarthost refuses mail: "+text)
	}
}

// trace adds an event about recipient n.
func (c *claim) trace(ctx context.Context, n int, event, detail string) {
	c.s.c.Trace(ctx, trace.Event{
		Time: c.s.c.Clock(), Host: c.s.c.Host, Trace: c.fan.Trace, MessageID: c.msgid, List: c.unit.list,
		Entry: c.unit.id, Queue: queue.Out, Event: event, Detail: detail, Rcpt: c.rcpt(n).Address.String(),
	})
}
