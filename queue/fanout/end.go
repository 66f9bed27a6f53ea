package fanout

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/retry"
)

// end closes the range for this round: refusals are judged together, who has been
// deferred for too long is given up, bounce events go out, and the end record, which
// it returns, says how many are left. tail are results that go with the first commit.
func (c *claim) end(ctx context.Context, tail []record) (record, error) {
	out := append(slices.Clone(tail), c.settle(ctx)...)
	kids, err := c.bounces(ctx, out)
	if err != nil {
		return record{}, errors.Join(err, c.keep(ctx, tail))
	}
	for _, r := range out[len(tail):] {
		c.tally.record(r, true)
	}
	if len(kids) > 0 {
		for _, k := range kids {
			out = append(out, record{kind: child, text: k.target})
		}
		if err := c.j.commit(out...); err != nil {
			c.lost(ctx, tail, err)
			return record{}, err
		}
		if err := c.publish(ctx, kids); err != nil {
			return record{}, err
		}
		out, tail = nil, nil
	}
	sum := c.summary()
	err = c.j.commit(append(out, sum)...)
	if err != nil {
		c.lost(ctx, tail, err)
	}
	return sum, err
}

// keep journals results although what follows them could not be done.
func (c *claim) keep(ctx context.Context, tail []record) error {
	if len(tail) == 0 {
		return nil
	}
	err := c.j.commit(tail...)
	if err != nil {
		c.lost(ctx, tail, err)
	}
	return err
}

// settle makes what was provisional final.
func (c *claim) settle(ctx context.Context) []record {
	out := c.refusals()
	now := c.s.time.now()
	for i := range c.tally.rcpt {
		p, n := &c.tally.rcpt[i], c.tally.from+i
		if p.closed != "" || p.refused || p.tries == 0 || p.site {
			continue
		}
		if _, more := c.s.c.Policy.Next(p.tries, now.Sub(p.first), 0); !more {
			out = append(out, record{kind: expired, set: makeSet(n), reply: p.reply})
		}
	}
	for _, r := range out {
		c.tell(ctx, r)
	}
	return out
}

// refusals judges the recipients that got a 5xx at RCPT: bounced, or, when nobody
// was told anything else, deferred as the site's fault.
func (c *claim) refusals() []record {
	var rs []retry.Refusal
	var who []int
	alike := true
	for i := range c.tally.rcpt {
		switch p := &c.tally.rcpt[i]; {
		case p.closed == "" && p.refused:
			rs = append(rs, retry.Refusal{Address: c.rcpts[i].Address.String(), Reply: p.reply})
			who = append(who, c.tally.from+i)
		case p.closed != "" && p.closed != left, p.tries > 0 && !p.site:
			alike = false
		}
	}
	if len(who) == 0 {
		return nil
	}
	if alike && retry.SameRefusal(rs) {
		p := c.tally.at(who[0])
		r := c.result(retry.Site, p.reply, p.tries, p.first)
		r.set = makeSet(who...)
		return []record{r}
	}
	var out []record
	for _, n := range who {
		out = append(out, record{kind: bounced, set: makeSet(n), reply: c.tally.at(n).reply})
	}
	return out
}

// summary is the end record.
func (c *claim) summary() record {
	r := record{kind: ended, round: c.view.round, told: c.tally.told}
	now := c.s.time.now()
	for i := range c.tally.rcpt {
		p := &c.tally.rcpt[i]
		if p.closed != "" {
			continue
		}
		r.count++
		if p.site {
			if _, more := c.s.c.Policy.Next(p.tries, now.Sub(p.first), 0); !more {
				r.stuck++
				continue
			}
		}
		if r.due.IsZero() || p.due.Before(r.due) {
			r.due = p.due
		}
	}
	return r
}

// roster looks the range's open members up again: from the second round on, who has
// left gets nothing more, and while the roster cannot be read, members wait.
func (c *claim) roster(ctx context.Context) error {
	if c.view.round == 1 {
		return nil
	}
	var members []int
	for _, n := range c.tally.open(c.s.time.now().Add(c.slack())) {
		if c.rcpt(n).Kind == lists.KindMember {
			members = append(members, n)
		}
	}
	if len(members) == 0 {
		return nil
	}
	var out []record
	people, err := c.s.c.Roster(ctx, c.unit.list)
	if errors.Is(err, lists.ErrNoList) {
		// Certainly deleted: nobody is on it any more.
		out = append(out, record{kind: left, set: makeSet(members...)})
	} else if err != nil {
		now := c.s.time.now()
		out = append(out, record{kind: deferred, set: makeSet(members...), class: retry.Defer, when: now, due: now.Add(c.slack()),
			reply: queue.Reply{Text: "roster: " + err.Error()}})
		c.log(ctx, slog.LevelWarn, "members wait: roster cannot be read", "err", err)
	} else if gone := absent(people, c, members); len(gone) > 0 {
		out = append(out, record{kind: left, set: makeSet(gone...)})
	}
	if len(out) == 0 {
		return nil
	}
	for _, r := range out {
		c.tally.record(r, true)
		c.tell(ctx, r)
	}
	return c.j.commit(out...)
}

func absent(people lists.Roster, c *claim, members []int) (gone []int) {
	for _, n := range members {
		if m, ok := people.ByID(c.rcpt(n).Member); !ok || m.Role != lists.RoleMember {
			gone = append(gone, n)
		}
	}
	return gone
}

// earliest is the earlier of two times that may be zero.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
