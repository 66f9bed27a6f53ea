package score

import (
	"fmt"
	"time"

	"qrunner/lists/mailaddr"
)

// Act is what the caller has to carry out, and then to note with Carried.
type Act string

// The acts.
const (
	Nothing Act = ""
	// Probe: send a probe with the record's token.
	Probe Act = "probe"
	// Disable: disable delivery; tell the member, and the owner where he wants to know.
	Disable Act = "disable"
	// Warn: tell a disabled member again.
	Warn Act = "warn"
	// Remove: take the member off the list; tell him, and the owner.
	Remove Act = "remove"
	// Show: tell the owner that a member is refused for policy all the time.
	Show Act = "show"
	// Drop: forget the record.
	Drop Act = "drop"
)

// clearPosts is how many posts a member must have got without a bounce, besides
// Config.Stale, before his score is forgotten.
const clearPosts = 5

// Past reports whether a record is to be forgotten: nothing has come back for long
// enough, and enough posts went out meanwhile that something would have. A list without
// posts proves nothing. posts is how many there were since Record.Post.
func (c Config) Past(r Record, at time.Time, posts uint64) bool {
	return at.Sub(r.Seen) > c.Stale && posts >= clearPosts
}

// Judge adds an event to a record of a member whose delivery is enabled. In a storm the
// event is noted and weighs nothing. The Step is zero if there is nothing to note: the
// member's delivery is disabled already.
func (c Config) Judge(r Record, e Event, storm bool) (Record, Step, Act) {
	if !r.Disabled.IsZero() || !r.Removed.IsZero() {
		return r, Step{}, Nothing
	}
	s := Step{At: e.At, What: Bounced, Kind: e.Kind, Why: clip(e.Why)}
	if r.Digest != e.Digest {
		r.Digest, r.Post = e.Digest, e.Post // counted anew
	}
	// The newest post is the one that came back: it was not handed over.
	if !r.Seen.IsZero() && c.Past(r, e.At, e.Post-min(e.Post, r.Post+1)) {
		if r.Score > 0 {
			s.Why = clip(fmt.Sprintf("after %s and %d posts without a bounce the score of %s is forgotten; now ", days(e.At.Sub(r.Seen)), e.Post-r.Post-1, r.Score) + s.Why)
		}
		r = Record{Address: r.Address, Digest: r.Digest, Refused: r.Refused, Token: r.Token}
	}
	r.Seen, r.Post = e.At, max(r.Post, e.Post)
	act := Nothing
	switch {
	case e.Kind == Policy:
		if r.Refused = r.Refused.next(e); r.Refused.due(e.At) {
			act = Show
		}
	case e.Kind == Complaint && e.Ours && c.actsOnComplaints():
		r, _ = c.add(r, e, storm)
		act = Disable
		if storm {
			s.Why, act = clip("nothing is done, many complain alike: "+s.Why), Nothing
		}
	case e.Kind.Scored():
		r, s.Points = c.add(r, e, storm)
		switch {
		case storm:
			s.Why = clip("not scored, many bounce alike: " + s.Why)
		case e.Probe:
			s.Why = clip("the probe came back: " + s.Why)
			act = Disable
		default:
			act = c.limit(r)
		}
	}
	s.Score = r.Score
	return r, s, act
}

func (c Config) actsOnComplaints() bool {
	return c.Complaint == ComplaintDisable || c.Complaint == ComplaintUnsubscribe
}

// Complained reports whether delivery was disabled for a complaint.
func (r Record) Complained() bool { return !r.Disabled.IsZero() && r.Kind == Complaint }

// add gives points: the day's heaviest bounce counts, the others of the day do not.
func (c Config) add(r Record, e Event, storm bool) (Record, Points) {
	if !sameDay(r.Last, e.At) {
		r.Given = 0
	}
	r.Last, r.Kind = e.At, e.Kind
	if storm {
		return r, 0
	}
	more := max(0, c.points(e.Kind)-r.Given)
	r.Given += more
	r.Score += more
	return r, more
}

// limit says what a score leads to.
func (c Config) limit(r Record) Act {
	switch {
	case c.Threshold == 0 || r.Score < c.Threshold:
		return Nothing
	case !c.Probes || !r.Probed.IsZero() && r.Score >= r.Limit:
		return Disable
	case r.Probed.IsZero():
		return Probe
	}
	return Nothing
}

// Carried notes that an act was carried out.
func (c Config) Carried(r Record, a Act, at time.Time) (Record, Step) {
	s := Step{At: at}
	switch a {
	case Probe:
		r.Probed, r.Limit = at, r.Score+c.Threshold
		s.What, s.Why = Probed, fmt.Sprintf("the score has reached %s; delivery is disabled if the probe comes back, or at %s", c.Threshold, r.Limit)
	case Disable:
		r.Disabled = at
		s.What, s.Why = Disabled, fmt.Sprintf("threshold %s", c.Threshold)
		switch {
		case r.Complained() && c.Complaint == ComplaintUnsubscribe:
			s.Why = "a complaint; to be removed in an hour"
		case r.Complained():
			r.Warned, r.Notice = 1, at
			s.Why = "a complaint"
		case c.Warnings > 0:
			r.Warned, r.Notice = 1, at
			s.Why += fmt.Sprintf("; notice 1 of %d", c.Warnings)
		}
	case Warn:
		r.Warned, r.Notice = r.Warned+1, at
		s.What, s.Why = Warned, fmt.Sprintf("notice %d of %d", r.Warned, c.Warnings)
	case Remove:
		r.Removed = at
		s.What, s.Why = Removed, fmt.Sprintf("disabled since %s, %d notices without an answer", r.Disabled.UTC().Format(time.DateOnly), r.Warned)
		if r.Complained() {
			s.Why = "the member has complained"
		}
	case Show:
		r.Refused.Shown = true
		s.What, s.Why = Shown, fmt.Sprintf("%d posts in a row refused for policy since %s; the member stays", r.Refused.Count, r.Refused.First.UTC().Format(time.DateOnly))
	}
	s.Score = r.Score
	return r, s
}

// Clear is the record after the member has proved that he gets mail.
func Clear(r Record, why string, at time.Time) (Record, Step) {
	return Record{Address: r.Address, Seen: at, Post: r.Post, Digest: r.Digest}, Step{At: at, What: Enabled, Points: -r.Score, Why: clip(why)}
}

// Begin is the record of a member whose delivery was disabled for bounces before
// anything was known of them: by an import, or by hand. Notices begin with it.
func Begin(a mailaddr.Address, at time.Time) (Record, Step) {
	return Record{Address: a, Seen: at, Disabled: at}, Step{At: at, What: Disabled, Why: "it was disabled for bounces before; notices begin"}
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }
