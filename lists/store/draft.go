package store

import (
	"time"

	"qrunner/lists"
	"qrunner/locking"
)

// draft is a State that is being changed by its only owner.
type draft struct {
	State
	at           time.Time // of the record that is being applied
	overridesOwn bool
	expired      []seen  // scratch
	ended        []count // scratch
}

// emptyState is a list before its first record.
func emptyState(id lists.ID, incarnation string) State {
	return State{
		id: id, incarnation: incarnation, nextMember: 1,
		roster: newRoster(), handovers: newSet(lessHandover), held: newSet(lessHeld),
		seen: newSet(lessSeenKey), seenEnd: newSet(lessSeenEnd), attempts: newSet(lessAttempt),
		digest: newSet(lessDigest), last: newSet(lessLast),
		bounces: newSet(lessBounce), alike: newSet(lessAlike), storms: newSet(lessStorm),
		counts: newSet(lessCountKey), countEnd: newSet(lessCountEnd),
		pending: newSet(lessPending), pendingBy: newSet(lessPendingRef),
	}
}

// edit begins a draft; s stays as it is.
func (s *State) edit() *draft {
	d := &draft{State: *s}
	d.list = nil
	d.roster, d.handovers, d.held = s.roster.clone(), s.handovers.clone(), s.held.clone()
	d.counts, d.countEnd = s.counts.clone(), s.countEnd.clone()
	d.pending, d.pendingBy = s.pending.clone(), s.pendingBy.clone()
	d.seen, d.seenEnd, d.attempts = s.seen.clone(), s.seenEnd.clone(), s.attempts.clone()
	d.digest, d.last = s.digest.clone(), s.last.clone()
	d.bounces, d.alike, d.storms = s.bounces.clone(), s.alike.clone(), s.storms.clone()
	return d
}

// begin takes what a record says by itself, apart from its changes.
func (d *draft) begin(r *Record) {
	d.version, d.at = r.N, r.Time.UTC()
	switch r.Kind {
	case KindFence:
		d.unclean, d.grant = d.grant != 0, locking.Token(r.N)
		return
	case KindRelease:
		if d.grant == r.Token {
			d.grant = 0
		}
	case KindDelete:
		d.deleted = true
	}
	d.changed = r.N
}

func (d *draft) addMember(m lists.Member) {
	if m.ID == 0 {
		m.ID = d.nextMember
	}
	d.nextMember = max(d.nextMember, m.ID+1)
	if m.Since.IsZero() {
		m.Since = d.at
	}
	d.roster.put(newRow(&m))
}

func (d *draft) setMember(m lists.Member) {
	old, ok := d.roster.ByID(m.ID)
	if m.ID == 0 {
		old, ok = d.roster.Find(m.Role, m.Address)
	}
	if !ok {
		return
	}
	m.ID = old.ID
	if m.Since.IsZero() {
		m.Since = old.Since
	}
	d.modeChanged(old, &m)
	d.roster.put(newRow(&m))
}
