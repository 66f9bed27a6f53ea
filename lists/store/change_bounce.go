package store

import (
	"cmp"
	"errors"
	"iter"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
)

// Bounce is what is known of a member's bounces, with the steps that led there, oldest
// first.
type Bounce struct {
	Member lists.MemberID `json:"member"`
	score.Record
	Steps []score.Step `json:"steps,omitempty"`
}

// Bounce finds what is known of a member's bounces. It may be about somebody who was
// removed for them.
func (s *State) Bounce(id lists.MemberID) (Bounce, bool) { return s.bounces.get(Bounce{Member: id}) }

// Bounces is what is known of all members, in order of their numbers.
func (s *State) Bounces() iter.Seq[Bounce] { return s.bounces.all() }

// BouncedAlike yields the members at a domain (lower case) whose last bounce was of a
// kind and not before since, oldest first.
func (s *State) BouncedAlike(domain string, k score.Kind, since time.Time) iter.Seq[lists.MemberID] {
	return func(yield func(lists.MemberID) bool) {
		for a := range s.alike.from(alike{domain: domain, kind: k, last: since}) {
			if a.domain != domain || a.kind != k || !yield(a.member) {
				return
			}
		}
	}
}

// Digests is how many digests were sent since the list was made.
func (s *State) Digests() uint64 { return s.digests }

// SetBounce says what is known of a member's bounces from now on. A step is added to
// those that are kept; none if it is zero.
type SetBounce struct {
	Member lists.MemberID `json:"member"`
	Record score.Record   `json:"record"`
	Step   score.Step     `json:"step,omitzero"`
}

// Kind implements Change.
func (SetBounce) Kind() string { return "set_bounce" }

func (c SetBounce) check(*State) error {
	if c.Member == 0 || c.Record.Address.Null() {
		return errors.New("set bounce: no member or address")
	}
	return nil
}

func (c SetBounce) apply(d *draft) {
	old, _ := d.bounces.get(Bounce{Member: c.Member})
	b := Bounce{Member: c.Member, Record: c.Record, Steps: old.Steps}
	if c.Step.What != "" {
		b.Steps = score.Append(old.Steps, c.Step)
	}
	d.putBounce(b)
}

// DropBounce forgets a member's bounces; of one who has none it is no error.
type DropBounce struct {
	Member lists.MemberID `json:"member"`
}

// Kind implements Change.
func (DropBounce) Kind() string { return "drop_bounce" }

func (DropBounce) check(*State) error { return nil }

func (c DropBounce) apply(d *draft) { d.dropBounce(c.Member) }

func (d *draft) dropBounce(id lists.MemberID) {
	if old, had := d.bounces.del(Bounce{Member: id}); had {
		d.alike.del(old.alike())
	}
}

func (d *draft) putBounce(b Bounce) {
	if old, had := d.bounces.put(b); had {
		d.alike.del(old.alike())
	}
	d.indexBounce(b)
}

func (s *State) indexBounce(b Bounce) {
	if b.Record.Kind.Storms() && b.Removed.IsZero() {
		s.alike.put(b.alike())
	}
}

// alike orders bounces by what storms have in common.
type alike struct {
	domain string
	kind   score.Kind
	last   time.Time
	member lists.MemberID
}

func (b Bounce) alike() alike {
	return alike{b.Domain(), b.Record.Kind, b.Last, b.Member}
}

func lessAlike(a, b alike) bool {
	return cmp.Or(cmp.Compare(a.domain, b.domain), cmp.Compare(a.kind, b.kind), a.last.Compare(b.last), cmp.Compare(a.member, b.member)) < 0
}

func lessBounce(a, b Bounce) bool { return a.Member < b.Member }
