package fanout

import (
	"time"

	"qrunner/queue"
	"qrunner/queue/retry"
)

// progress is what all journals together say of one recipient.
type progress struct {
	closed  kind        // sent, bounced, judged, expired or left; "" while open
	reply   queue.Reply // the last one
	refused bool        // a 5xx at RCPT that the range's end will judge
	tries   int         // temporary failures so far
	first   time.Time   // the first of them
	due     time.Time   // not to be tried before
	site    bool        // the last failure was the site's
	waits   bool        // deferred in the round in force
	doubt   bool        // a transaction that nobody knows the end of
}

// tally is what the journals of a range say. The zero value of a recipient is
// "not tried yet".
type tally struct {
	from, to int
	rcpt     []progress
	ended    bool // the range is over for this round
	children map[string]bool
	told     int // judged or expired in this round
	barren   int // how many journals in a row, the latest ones, got nowhere
	foreign  int // another batch size that a journal was written with
}

func newTally(from, to int) *tally {
	return &tally{from: from, to: to, rcpt: make([]progress, to-from), children: map[string]bool{}}
}

// at is the progress of recipient n.
func (t *tally) at(n int) *progress { return &t.rcpt[n-t.from] }

// journal folds one whole journal; they come in the order of their numbers. round
// is the one in force, batch our batch size.
func (t *tally) journal(records []record, round, batch int) {
	mine := 1
	barren := true
	flying := map[int]bool{}
	for _, r := range records {
		if r.kind == begin {
			mine = r.round
			if r.count != batch {
				t.foreign = r.count
			}
			continue
		}
		barren = barren && r.kind == start
		t.fly(r, flying)
		t.record(r, mine == round)
	}
	for n := range flying {
		t.at(n).doubt = true
	}
	switch {
	case mine != round:
		t.barren = 0
	case barren:
		t.barren++
	default:
		t.barren = 0
	}
}

// fly follows the transactions in flight within one journal.
func (t *tally) fly(r record, flying map[int]bool) {
	if r.kind == quit {
		clear(flying)
	}
	r.set.each(t.from, t.to, func(n int) {
		if r.kind == start {
			flying[n] = true
		} else {
			delete(flying, n)
		}
	})
}

// record folds one line. current says that it was written in the round in force.
func (t *tally) record(r record, current bool) {
	switch r.kind {
	case child:
		t.children[r.text] = true
	case ended:
		t.ended = t.ended || current
	}
	r.set.each(t.from, t.to, func(n int) {
		p := t.at(n)
		if p.closed != "" {
			return // final, whatever a sleeper's late line says
		}
		switch r.kind {
		case sent, bounced, judged, expired, left:
			p.closed, p.reply = r.kind, r.reply
			if current && (r.kind == judged || r.kind == expired) {
				t.told++
			}
		case refused:
			p.refused, p.reply = true, r.reply
		case deferred:
			p.postpone(r)
			p.waits = current
		}
	})
}

func (p *progress) postpone(r record) {
	p.refused, p.due = false, r.due
	if r.reply.Phase == "" {
		return // not tried: the roster could not be read
	}
	p.reply, p.site = r.reply, r.class == retry.Site
	if p.tries == 0 {
		p.first = r.when
	}
	p.tries++
}

// open lists the recipients to try in this round: not closed, not tried in it yet,
// and due by the given time.
func (t *tally) open(by time.Time) []int {
	var out []int
	for i := range t.rcpt {
		if p := &t.rcpt[i]; p.closed == "" && !p.refused && !p.waits && !p.due.After(by) {
			out = append(out, t.from+i)
		}
	}
	return out
}
