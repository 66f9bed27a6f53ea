package store

import (
	"cmp"
	"errors"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
)

// Storm is the storm at a domain (lower case) that was last noticed, if it is still
// remembered.
func (s *State) Storm(domain string, k score.Kind) (score.Storm, bool) {
	return s.storms.get(score.Storm{Domain: domain, Kind: k})
}

// Storms is every storm that is still remembered.
func (s *State) Storms() []score.Storm {
	var out []score.Storm
	for x := range s.storms.all() {
		out = append(out, x)
	}
	return out
}

// stormKept is how long a storm that is over is remembered.
const stormKept = 7 * 24 * time.Hour

// SetStorm says that a storm has begun, or lasts longer. With Back set, what the storm's
// bounces have done since then is undone: points, probes that wait, and delivery that was
// disabled is enabled again.
type SetStorm struct {
	Storm score.Storm `json:"storm"`
	At    time.Time   `json:"at"`
	Back  time.Time   `json:"back,omitzero"`
}

// Kind implements Change.
func (SetStorm) Kind() string { return "set_storm" }

func (c SetStorm) check(*State) error {
	if c.Storm.Domain == "" || !c.Storm.Kind.Storms() || c.At.IsZero() {
		return errors.New("set storm: no domain, kind or time")
	}
	return nil
}

func (c SetStorm) apply(d *draft) {
	for _, old := range d.Storms() {
		if c.At.Sub(old.Until) > stormKept {
			d.storms.del(old)
		}
	}
	d.storms.put(c.Storm)
	if c.Back.IsZero() {
		return
	}
	var ids []lists.MemberID
	for id := range d.BouncedAlike(c.Storm.Domain, c.Storm.Kind, c.Back) {
		ids = append(ids, id)
	}
	for _, id := range ids {
		c.takeBack(d, id)
	}
}

func (c SetStorm) takeBack(d *draft, id lists.MemberID) {
	b, _ := d.bounces.get(Bounce{Member: id})
	r, step, enable := score.TakeBack(b.Record, b.Steps, c.Storm.Kind, c.Back, c.At.UTC())
	if step.What == "" {
		return
	}
	b.Record, b.Steps = r, score.Append(b.Steps, step)
	d.putBounce(b)
	if m, ok := d.roster.ByID(id); ok && enable && m.Status == lists.StatusByBounces {
		m.Status, m.StatusSince, m.StatusWhy = "", c.At.UTC(), "many bounced alike"
		d.setMember(*m)
	}
}

func lessStorm(a, b score.Storm) bool {
	return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Kind, b.Kind)) < 0
}
