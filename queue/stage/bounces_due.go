package stage

import (
	"context"
	"iter"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/store"
	"qrunner/queue"
)

// bouncesKey counts the entries that say that something is due.
const bouncesKey = "bounces-due"

// bouncesTime makes the entry of the queue bounces by which warnings and removals that
// are due come about. It says no more than that.
func bouncesTime(st *store.State, now time.Time) (queue.Child, store.Change, bool) {
	set := st.List().Settings
	if !set.Bool("process_bounces") || st.ID() == lists.Site || st.Count(bouncesKey, now) > 0 {
		return queue.Child{}, nil, false
	}
	b := &bouncing{conf: score.FromSettings(set), st: st, at: now.UTC()}
	for range b.allDue() {
		e := &queue.Entry{Queue: queue.Bounces, List: st.ID(), Raw: []byte("Subject: something is due\r\n\r\n")}
		e.Target = lists.Target{List: st.ID(), Sub: lists.SubBounces}
		e.Source, e.Trace = "internal", "bounces."+now.UTC().Format("20060102T150405.000000")
		return queue.Child{Entry: e}, store.AddCount{Key: bouncesKey, At: now, Until: now.Add(30 * time.Minute)}, true
	}
	return queue.Child{}, nil, false
}

// allDue is all that is due, by the members' numbers, as the state was when it is called.
func (b *bouncing) allDue() iter.Seq2[store.Bounce, dueWork] {
	st := b.st
	return func(yield func(store.Bounce, dueWork) bool) {
		for known := range st.Bounces() {
			if todo := b.dueOf(known); todo.what != workNone && !yield(known, todo) {
				return
			}
		}
		for m := range st.List().Roster.All(lists.RoleMember) {
			if m.Status != lists.StatusByBounces {
				continue
			}
			if _, known := st.Bounce(m.ID); !known && !yield(store.Bounce{Member: m.ID}, dueWork{what: workBegin}) {
				return
			}
		}
	}
}

// periodicBounces tells the entries of bouncesTime from mail: no mail has this source.
func periodicBounces(e *queue.Entry) bool { return e.Source == "internal" && e.Meta.Bounce == nil }

// dueWork is what time has brought about for one record.
type dueWork struct {
	act  score.Act
	what bounceWork
}

type bounceWork int

const (
	workNone   bounceWork = iota
	workAct               // carry act out
	workForget            // the record is about nobody any more
	workRebase            // posts are counted anew from now
	workBegin             // delivery is disabled for bounces, and nothing is known of them
)

// dueOf looks at one record.
func (b *bouncing) dueOf(known store.Bounce) dueWork {
	r := known.Record
	if !r.Removed.IsZero() {
		return b.dueAct(r, 0)
	}
	m, ok := b.st.List().Roster.ByID(known.Member)
	switch {
	case !ok || m.Role != lists.RoleMember || r.Address.Key() != m.Address.Key():
		return dueWork{what: workForget}
	case !r.Disabled.IsZero() && m.Status != lists.StatusByBounces: // a person has enabled it
		return dueWork{what: workForget}
	case !r.Disabled.IsZero():
		return b.dueAct(r, 0)
	case m.Status == lists.StatusByBounces:
		return dueWork{what: workBegin}
	case m.Status != "" && m.Status != lists.StatusEnabled:
		return dueWork{} // nothing is handed over: nothing is proved
	}
	n, digest := b.handedOver(m)
	if digest != r.Digest || m.StatusSince.After(r.Seen) {
		return dueWork{what: workRebase}
	}
	return b.dueAct(r, n-min(n, r.Post))
}

func (b *bouncing) dueAct(r score.Record, posts uint64) dueWork {
	a := b.conf.Due(r, b.at, posts)
	if a == score.Nothing || a == score.Remove && b.stormAt(r.Domain()) {
		return dueWork{}
	}
	return dueWork{act: a, what: workAct}
}

// stormAt reports whether there is a storm at a domain: nobody is removed meanwhile.
func (b *bouncing) stormAt(domain string) bool {
	for _, s := range b.st.Storms() {
		if s.Domain == domain && s.Active(b.at) {
			return true
		}
	}
	return false
}

// mostDue is how many records are dealt with in one go; the others have their turn with
// the next entry.
const mostDue = 500

// due does what is due.
func (b *bouncing) due(ctx context.Context) error {
	n := 0
	for known, todo := range b.allDue() {
		if n++; n > mostDue {
			break
		}
		if err := b.dueOne(ctx, known, todo); err != nil {
			return err
		}
	}
	return nil
}

func (b *bouncing) dueOne(ctx context.Context, known store.Bounce, todo dueWork) error {
	m, _ := b.st.List().Roster.ByID(known.Member)
	switch {
	case todo.what == workForget, todo.act == score.Drop:
		b.say("cleared", "%s: forgotten", known.Address)
		return b.change(store.DropBounce{Member: known.Member})
	case todo.what == workBegin:
		r, step := score.Begin(m.Address, b.at)
		r.Post, r.Digest = b.handedOver(m)
		b.say("noted", "%s: delivery is disabled for bounces, notices begin", m.Address)
		return b.change(store.SetBounce{Member: m.ID, Record: r, Step: step})
	case todo.what == workRebase:
		r := known.Record
		r.Seen = b.at
		r.Post, r.Digest = b.handedOver(m)
		return b.change(store.SetBounce{Member: known.Member, Record: r})
	}
	return b.act(ctx, m, todo.act)
}
