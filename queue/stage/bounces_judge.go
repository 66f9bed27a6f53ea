package stage

import (
	"context"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/store"
	"qrunner/lists/templates"
)

// judge adds an event to what is known of a member, and carries out what follows.
func (b *bouncing) judge(ctx context.Context, m *lists.Member, e score.Event) error {
	if m.Status != "" && m.Status != lists.StatusEnabled {
		b.say("ignored", "%s: delivery is disabled already", m.Address)
		return nil
	}
	storm, err := b.storm(ctx, m, e)
	if err != nil {
		return err
	}
	m, _ = b.st.List().Roster.ByID(m.ID)
	r, step, act := b.conf.Judge(b.record(m), e, storm)
	if step.What == "" {
		return nil
	}
	b.say("bounced", "%s: %s, score %s: %s", m.Address, e.Kind, r.Score, step.Why)
	if err := b.change(store.SetBounce{Member: m.ID, Record: r, Step: step}); err != nil {
		return err
	}
	if act == score.Nothing && step.Points > 0 && b.st.List().Settings.Bool("bounce_notify_owner_on_bounce_increment") {
		return b.tellOwners(ctx, templates.AdminIncrement, templates.Vars{"member": m.Address.String(), "score": r.Score.String(), "reasons": e.Why})
	}
	return b.act(ctx, m, act)
}

// record is what is known of a member's bounces, as far as it is about the address that
// he has now, and about delivery that is enabled.
func (b *bouncing) record(m *lists.Member) score.Record {
	known, _ := b.st.Bounce(m.ID)
	r := known.Record
	switch {
	case r.Address.Key() != m.Address.Key():
		return score.Record{Address: m.Address}
	case !r.Disabled.IsZero() && m.Status != lists.StatusByBounces: // a person has enabled it
		return score.Record{Address: m.Address}
	}
	return r
}

// stormStep is how much longer a storm must last for that to be worth a change.
const stormStep = 10 * time.Minute

// storm reports whether a bounce is one of a storm, and begins one where there are enough.
func (b *bouncing) storm(ctx context.Context, m *lists.Member, e score.Event) (bool, error) {
	l := b.st.List()
	needs := b.conf.StormNeeds(l.Roster.Count(lists.RoleMember))
	if !e.Kind.Storms() || needs == 0 {
		return false, nil
	}
	domain := score.Record{Address: m.Address}.Domain()
	s, _ := b.st.Storm(domain, e.Kind)
	until := e.At.Add(score.StormWindow)
	if s.Active(e.At) {
		if until.Sub(s.Until) < stormStep {
			return true, nil
		}
		s.Until = until
		return true, b.change(store.SetStorm{Storm: s, At: e.At})
	}
	n := 1
	since := e.At.Add(-score.StormWindow)
	for id := range b.st.BouncedAlike(domain, e.Kind, since) {
		if n == needs {
			break
		}
		if id != m.ID {
			n++
		}
	}
	if n < needs {
		return false, nil
	}
	s = score.Storm{Domain: domain, Kind: e.Kind, Since: e.At, Until: until, Members: n}
	b.say("storm", "%d members at %s bounce alike (%s): not scored", n, domain, e.Kind)
	if err := b.change(store.SetStorm{Storm: s, At: e.At, Back: since}); err != nil {
		return false, err
	}
	return true, b.tellStorm(ctx, s, e)
}

// act carries out what a record led to, and notes it.
func (b *bouncing) act(ctx context.Context, m *lists.Member, a score.Act) error {
	if a == score.Nothing {
		return nil
	}
	if a == score.Drop {
		return b.change(store.DropBounce{Member: m.ID})
	}
	known, _ := b.st.Bounce(m.ID)
	r, step := b.conf.Carried(known.Record, a, b.at)
	if r.Token == "" {
		token, err := b.c.token()
		if err != nil {
			return err
		}
		r.Token = token[:secretLen]
	}
	if err := b.change(store.SetBounce{Member: m.ID, Record: r, Step: step}); err != nil {
		return err
	}
	b.say(string(step.What), "%s: %s", m.Address, step.What)
	switch a {
	case score.Disable:
		off := *m
		off.Status, off.StatusSince, off.StatusWhy = lists.StatusByBounces, b.at, "bounces: score "+r.Score.String()
		if r.Complained() {
			off.StatusWhy = "a complaint of spam"
		}
		if err := b.change(store.SetMember{Member: off}); err != nil {
			return err
		}
	case score.Remove:
		if err := b.change(store.DelMember{Role: m.Role, Address: m.Address}); err != nil {
			return err
		}
	}
	return b.tellOf(ctx, m, a, r, last(known.Steps))
}

// last is what the newest bounce among steps said.
func last(steps []score.Step) string {
	for _, s := range slices.Backward(steps) {
		if s.What == score.Bounced {
			return s.Why
		}
	}
	return ""
}
