package smtpout

import (
	"sync/atomic"

	"qrunner/queue"
)

// Stats is what a pool did since it was made.
type Stats struct {
	// Opened connections got as far as MAIL; Open are those not closed yet, dials
	// included; Reused counts Acquires served by an idle connection; Stale those that
	// had been closed by the server; Failures what the breakers counted.
	Opened, Open, Reused, Stale, Failures int64
	Transactions, Recipients              int64
	// Replies to recipients by the first digit of the code: 0 no answer, 2 sent, 4
	// later, 5 refused.
	Replies [6]int64
}

type counters struct {
	opened, open, reused, stale, failures atomic.Int64
	transactions, recipients              atomic.Int64
	replies                               [6]atomic.Int64
}

func (c *counters) count(replies []queue.Reply) {
	var n [6]int64
	for i := range replies {
		n[replies[i].Code/100]++
	}
	for class, k := range n {
		if k > 0 {
			c.replies[class].Add(k)
		}
	}
	c.transactions.Add(1)
	c.recipients.Add(int64(len(replies)))
}

// Stats reads the counters; each is exact, together they are not of one moment.
func (p *Pool) Stats() Stats {
	c := &p.stats
	s := Stats{Opened: c.opened.Load(), Open: c.open.Load(), Reused: c.reused.Load(), Stale: c.stale.Load(),
		Failures: c.failures.Load(), Transactions: c.transactions.Load(), Recipients: c.recipients.Load()}
	for i := range s.Replies {
		s.Replies[i] = c.replies[i].Load()
	}
	return s
}

// State says how a host is seen.
type State struct {
	Host string
	// Open: the breaker keeps us from trying.
	Open bool
	Idle int
}

// States is one for each host, in the order of the configuration.
func (p *Pool) States() []State {
	var out []State
	for _, h := range p.hosts {
		p.mu.Lock()
		idle := len(h.idle)
		p.mu.Unlock()
		out = append(out, State{Host: h.addr, Open: h.breaker.wait() > 0, Idle: idle})
	}
	return out
}
