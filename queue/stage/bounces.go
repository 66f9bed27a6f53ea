package stage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/bounces/score"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/queue"
)

// bouncer works on mail to the bounces address, on what the stage out made of the
// smarthost's replies, and on what time brings about for those who bounced.
type bouncer struct{ c Config }

// Process implements queue.Processor.
func (s *bouncer) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	b := s.c.bouncing(w)
	var err error
	switch e := w.Entry; {
	case w.List.ID == lists.Site:
		b.say("ignored", "mail of the site itself came back")
	case !w.List.Settings.Bool("process_bounces"):
		b.say("ignored", "process_bounces is off")
	case periodicBounces(e):
		err = b.due(ctx)
	case e.Meta.Bounce != nil:
		err = b.reply(ctx, e.Meta.Bounce)
	default:
		err = b.report(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	return b.outcome(), nil
}

// bouncing is the work on one entry. What it decides shows in st at once, so that a
// report about several members is judged like several reports.
type bouncing struct {
	c    Config
	conf score.Config
	e    *queue.Entry
	at   time.Time
	st   *store.State
	o    *queue.Outcome
	said []string
	// ours: the report came to a copy's own address, or returns a copy of the list's.
	ours bool
}

func (c Config) bouncing(w *queue.Work) *bouncing {
	return &bouncing{
		c: c, conf: score.FromSettings(w.List.Settings), e: w.Entry, at: w.Entry.Received.UTC(), st: w.State, o: &queue.Outcome{},
	}
}

// say adds to what the trace tells; the first event names the outcome.
func (b *bouncing) say(event, format string, args ...any) {
	if b.o.Event == "" || b.o.Event == "ignored" {
		b.o.Event = event
	}
	b.said = append(b.said, fmt.Sprintf(format, args...))
}

// maxSaid is how much a trace event tells of a report about many.
const maxSaid = 20

func (b *bouncing) outcome() *queue.Outcome {
	if n := len(b.said); n > maxSaid {
		b.said = append(b.said[:maxSaid:maxSaid], fmt.Sprintf("and %d more", n-maxSaid))
	}
	b.o.Reason = strings.Join(b.said, "; ")
	if b.o.Event == "" {
		b.o.Event, b.o.Reason = "ignored", "nothing to do"
	}
	return b.o
}

// change adds changes to the outcome and to what b sees of the list.
func (b *bouncing) change(cs ...store.Change) error {
	st, err := b.st.With(b.at, cs...)
	if err != nil {
		return err
	}
	b.st = st
	b.o.Changes = append(b.o.Changes, cs...)
	return nil
}

// reply takes what our own smarthost said of a recipient.
func (b *bouncing) reply(ctx context.Context, x *queue.Bounce) error {
	r := bounces.FromReply(x.Recipient.Address, x.Reply, x.Phase == "expired")
	id, probe := b.probed(probeToken(b.e.Raw))
	var m *lists.Member
	switch x.Recipient.Kind {
	case lists.KindNonmember:
		b.say("ignored", "%s is no member", x.Recipient.Address)
		return nil
	case lists.KindNotice:
		if m = b.find(x.Recipient.Address); probe {
			m = b.byID(id, x.Recipient.Address)
		}
	default:
		m = b.byID(x.Recipient.Member, x.Recipient.Address)
	}
	return b.one(ctx, m, r, probe)
}

// report takes a mail to the bounces address.
func (b *bouncing) report(ctx context.Context) error {
	extra := b.e.Target.Extra
	id, probe := b.probed(strings.ToLower(extra))
	r := bounces.ScanTo(b.e.Raw, extra)
	switch {
	case r.Kind == bounces.AutoReply || r.Kind == bounces.Challenge:
		b.say("ignored", "%s", r.Kind)
		return nil
	case len(r.Recipients) == 0:
		return b.unrecognized(ctx, r)
	case probe:
		m, _ := b.st.List().Roster.ByID(id)
		return b.one(ctx, m, worst(r.Recipients), true)
	}
	b.ours = r.VERP != (mailaddr.VERP{}) || r.List == strings.ToLower(b.st.ID().ListID())
	for _, x := range r.Recipients {
		if err := b.one(ctx, b.who(r.VERP, x), x, false); err != nil {
			return err
		}
	}
	return nil
}

// worst is the result that says most about a copy that one member got: a probe's report
// may name addresses that we do not know.
func worst(rs []bounces.Result) bounces.Result {
	out := rs[0]
	for _, r := range rs[1:] {
		if r.Class == bounces.Hard && out.Class != bounces.Hard || r.Permanent && !out.Permanent {
			out = r
		}
	}
	return out
}

// one takes the result for one member; nil: nobody of this list.
func (b *bouncing) one(ctx context.Context, m *lists.Member, r bounces.Result, probe bool) error {
	e, counts := score.FromResult(r, b.at, 0)
	switch {
	case m == nil:
		b.say("ignored", "%s is not on the list", or(r.Address.String(), "somebody"))
		return nil
	case !counts:
		b.say("ignored", "%s: %s is no failure for good", m.Address, or(r.Action, string(r.Reason)))
		return nil
	case m.Role != lists.RoleMember:
		return b.ofOwner(ctx, m, e)
	}
	e.Probe, e.Ours = probe, b.ours
	e.Post, e.Digest = b.handedOver(m)
	return b.judge(ctx, m, e)
}

// handedOver numbers the last post, or digest, that went to a member.
func (b *bouncing) handedOver(m *lists.Member) (n uint64, digest bool) {
	if m.Mode.Digests() {
		return b.st.Digests(), true
	}
	return b.st.List().PostID, false
}

// find looks an address up among the members, then among those who get mail otherwise.
func (b *bouncing) find(a mailaddr.Address) *lists.Member {
	for _, role := range []lists.Role{lists.RoleMember, lists.RoleOwner, lists.RoleModerator} {
		if m, ok := b.st.List().Roster.Find(role, a); !a.Null() && ok {
			return m
		}
	}
	return nil
}

// byID looks up who got a copy, if he still has that address.
func (b *bouncing) byID(id lists.MemberID, a mailaddr.Address) *lists.Member {
	m, ok := b.st.List().Roster.ByID(id)
	if !ok || m.Address.Key() != a.Key() || m.Role == lists.RoleNonmember {
		return nil
	}
	return m
}

// who is the member that a result is about. A VERP address decides it alone: the
// report's own address may be behind a forwarding, and belong to another member.
func (b *bouncing) who(v mailaddr.VERP, r bounces.Result) *lists.Member {
	switch {
	case v == (mailaddr.VERP{}):
		if m := b.find(r.Address); m != nil {
			return m
		}
		return b.find(r.Alias)
	case !v.Address.Null():
		return b.find(v.Address)
	}
	if m, ok := b.st.List().Roster.ByID(lists.MemberID(v.Member)); ok {
		if v.Names(m.Address) && m.Role != lists.RoleNonmember {
			return m
		}
		return nil
	}
	for _, role := range []lists.Role{lists.RoleOwner, lists.RoleModerator} {
		for m := range b.st.List().Roster.All(role) {
			if v.Names(m.Address) {
				return m
			}
		}
	}
	return nil
}
