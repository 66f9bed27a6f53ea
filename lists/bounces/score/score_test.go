package score

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
)

func defaults() Config {
	return Config{Threshold: 5 * Point, Stale: 7 * day, Soft: Point / 2, Expired: Point / 4, Warnings: 3, Interval: 7 * day, Storm: 10}
}

const day = 24 * time.Hour

// at is a time on a day of the story.
func at(n int, hours ...int) time.Time {
	t := time.Date(2024, 1, 1, 10, 0, 0, 0, time.UTC).AddDate(0, 0, n)
	for _, h := range hours {
		t = t.Add(time.Duration(h) * time.Hour)
	}
	return t
}

// told is an event and what is expected of it.
type told struct {
	e      Event
	storm  bool
	score  string
	points Points
	act    Act
}

// story judges events one after the other, and carries acts out.
func story(t *testing.T, c Config, events []told) (Record, []Step) {
	t.Helper()
	var r Record
	var steps []Step
	for i, x := range events {
		var s Step
		var act Act
		r, s, act = c.Judge(r, x.e, x.storm)
		if act != x.act || r.Score.String() != x.score || s.Points != x.points {
			t.Errorf("event %d: act %q, score %s, points %s; want %q, %s, %s", i, act, r.Score, s.Points, x.act, x.score, x.points)
		}
		if s.What != "" {
			steps = Append(steps, s)
		}
		if act != Nothing {
			r, s = c.Carried(r, act, x.e.At)
			steps = Append(steps, s)
		}
	}
	return r, steps
}

func hard(n int, post uint64) Event { return Event{At: at(n), Kind: Hard, Post: post} }

func TestJudge(t *testing.T) {
	never := defaults()
	never.Threshold = 0
	for _, tc := range []struct {
		name   string
		c      Config
		events []told
	}{
		{"a point a day, disabled at the threshold, then quiet", defaults(), []told{
			{hard(0, 1), false, "1.0", 100, Nothing},
			{Event{At: at(0, 5), Kind: Hard, Post: 2}, false, "1.0", 0, Nothing},
			{hard(1, 3), false, "2.0", 100, Nothing},
			{hard(2, 4), false, "3.0", 100, Nothing},
			{hard(3, 5), false, "4.0", 100, Nothing},
			{hard(4, 6), false, "5.0", 100, Disable},
			{hard(5, 7), false, "5.0", 0, Nothing},
		}},
		{"the heaviest of a day counts", defaults(), []told{
			{Event{At: at(0), Kind: Expired}, false, "0.25", 25, Nothing},
			{Event{At: at(0, 1), Kind: Soft}, false, "0.5", 25, Nothing},
			{Event{At: at(0, 2), Kind: Hard}, false, "1.0", 50, Nothing},
			{Event{At: at(0, 3), Kind: Soft}, false, "1.0", 0, Nothing},
			{Event{At: at(1), Kind: Soft}, false, "1.5", 50, Nothing},
		}},
		{"days are those of UTC", defaults(), []told{
			{Event{At: at(0, 13).In(time.FixedZone("", 3600)), Kind: Hard}, false, "1.0", 100, Nothing},
			{Event{At: at(0, 14).In(time.FixedZone("", 3600)), Kind: Hard}, false, "2.0", 100, Nothing},
		}},
		{"policy and complaints weigh nothing", defaults(), []told{
			{Event{At: at(0), Kind: Policy}, false, "0.0", 0, Nothing},
			{Event{At: at(1), Kind: Complaint}, false, "0.0", 0, Nothing},
		}},
		{"stale: a week and five good posts", defaults(), []told{
			{hard(0, 10), false, "1.0", 100, Nothing},
			{hard(8, 16), false, "1.0", 100, Nothing},
		}},
		{"a week and four good posts: the fifth is the one that came back", defaults(), []told{
			{hard(0, 10), false, "1.0", 100, Nothing},
			{hard(8, 15), false, "2.0", 100, Nothing},
		}},
		{"quiet list: months prove nothing", defaults(), []told{
			{hard(0, 1), false, "1.0", 100, Nothing},
			{hard(60, 2), false, "2.0", 100, Nothing},
			{hard(120, 3), false, "3.0", 100, Nothing},
		}},
		{"many posts within the week prove nothing", defaults(), []told{
			{hard(0, 1), false, "1.0", 100, Nothing},
			{hard(7, 1000), false, "2.0", 100, Nothing},
		}},
		{"a refusal for policy is no copy that got through", defaults(), []told{
			{hard(0, 1), false, "1.0", 100, Nothing},
			{Event{At: at(5), Kind: Policy, Post: 5}, false, "1.0", 0, Nothing},
			{hard(11, 9), false, "2.0", 100, Nothing},
		}},
		{"storm", defaults(), []told{
			{hard(0, 1), false, "1.0", 100, Nothing},
			{hard(1, 2), true, "1.0", 0, Nothing},
			{Event{At: at(1, 2), Kind: Hard, Post: 2}, false, "2.0", 100, Nothing},
		}},
		{"threshold zero", never, []told{
			{hard(0, 1), false, "1.0", 100, Nothing}, {hard(1, 2), false, "2.0", 100, Nothing},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { story(t, tc.c, tc.events) })
	}
}

func TestJudgeWithProbes(t *testing.T) {
	c := defaults()
	c.Probes = true
	for _, tc := range []struct {
		name   string
		events []told
	}{
		{"probes: one, then the second threshold", []told{
			{hard(0, 1), false, "1.0", 100, Nothing}, {hard(1, 2), false, "2.0", 100, Nothing},
			{hard(2, 3), false, "3.0", 100, Nothing}, {hard(3, 4), false, "4.0", 100, Nothing},
			{hard(4, 5), false, "5.0", 100, Probe}, {hard(5, 6), false, "6.0", 100, Nothing},
			{hard(6, 7), false, "7.0", 100, Nothing}, {hard(7, 8), false, "8.0", 100, Nothing},
			{hard(8, 9), false, "9.0", 100, Nothing}, {hard(9, 10), false, "10.0", 100, Disable},
		}},
		{"a probe that comes back", []told{
			{Event{At: at(0), Kind: Soft, Probe: true}, false, "0.5", 50, Disable},
		}},
		{"a probe that is refused for policy", []told{
			{Event{At: at(0), Kind: Policy, Probe: true}, false, "0.0", 0, Nothing},
		}},
		{"a probe that comes back in a storm", []told{
			{Event{At: at(0), Kind: Hard, Probe: true}, true, "0.0", 0, Nothing},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { story(t, c, tc.events) })
	}
}

// Refused on every post for thirty days: shown once, never more.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		every int // days between two posts
		gap   int // posts that get through before the eighth
		shown int // number of the event that shows; 0: none of twenty
	}{
		{"three days apart", 3, 0, 11},
		{"weekly", 7, 0, 10},
		{"daily", 1, 0, 0},
		{"a report is late", 3, 2, 11},
		{"some got through", 3, 5, 18},
	} {
		c, post, shown := defaults(), uint64(100), 0
		var r Record
		for i := range 20 {
			post++
			if i == 7 {
				post += uint64(tc.gap)
			}
			var act Act
			r, _, act = c.Judge(r, Event{At: at(i * tc.every), Kind: Policy, Post: post}, false)
			if act == Show {
				if shown != 0 {
					t.Errorf("%s: shown twice", tc.name)
				}
				shown = i + 1
				r, _ = c.Carried(r, act, at(i))
			}
		}
		if shown != tc.shown || r.Score != 0 {
			t.Errorf("%s: shown at %d, want %d; score %s", tc.name, shown, tc.shown, r.Score)
		}
	}
}

func TestDue(t *testing.T) {
	c, none := defaults(), defaults()
	none.Warnings = 0
	off := Record{Score: 5 * Point, Disabled: at(0), Warned: 1, Notice: at(0)}
	last := off
	last.Warned, last.Notice = 3, at(14)
	for _, tc := range []struct {
		name  string
		c     Config
		r     Record
		now   time.Time
		posts uint64
		want  Act
	}{
		{"not yet", c, off, at(7).Add(-1), 0, Nothing},
		{"second notice", c, off, at(7), 0, Warn},
		{"after the last", c, last, at(21).Add(-1), 0, Nothing},
		{"removed", c, last, at(21), 0, Remove},
		{"no warnings: an hour", none, Record{Disabled: at(0)}, at(0, 1), 0, Remove},
		{"no warnings: not at once", none, Record{Disabled: at(0)}, at(0, 1).Add(-1), 0, Nothing},
		{"warnings since", c, Record{Disabled: at(0)}, at(0, 1), 0, Warn},
		{"score stays: quiet list", c, Record{Score: 1, Seen: at(0)}, at(400), 4, Nothing},
		{"score stays: a week", c, Record{Score: 1, Seen: at(0)}, at(7), 100, Nothing},
		{"score goes", c, Record{Score: 1, Seen: at(0)}, at(7, 1), 5, Drop},
		{"removed long ago", c, Record{Removed: at(0)}, at(90, 1), 0, Drop},
		{"removed lately", c, Record{Removed: at(0), Disabled: at(0)}, at(90), 9, Nothing},
	} {
		if got := tc.c.Due(tc.r, tc.now, tc.posts); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestTakeBack(t *testing.T) {
	c := defaults()
	r, steps := story(t, c, []told{
		{hard(0, 1), false, "1.0", 100, Nothing}, {hard(1, 2), false, "2.0", 100, Nothing}, {hard(2, 3), false, "3.0", 100, Nothing},
		{Event{At: at(3, -1), Kind: Soft, Post: 3}, false, "3.5", 50, Nothing}, {hard(3, 4), false, "4.0", 50, Nothing},
		{Event{At: at(3, 14), Kind: Hard, Post: 5}, false, "5.0", 100, Disable},
	})
	got, s, enable := TakeBack(r, steps, Hard, at(3, 13), at(3, 14))
	if got.Score != 4*Point || !enable || !got.Disabled.IsZero() || got.Warned != 0 || s.Points != -100 || got.Given != 0 {
		t.Errorf("%+v, %+v, %v", got, s, enable)
	}
	got, _, _ = TakeBack(r, steps, Hard, at(3), at(3, 14))
	if got.Score != 350 {
		t.Errorf("score %s: the soft bounce and the days before stay", got.Score)
	}
	again, s, enable := TakeBack(got, Append(steps, Step{At: at(3, 14), What: TakenBack, Kind: Hard}), Hard, at(3), at(3, 14))
	if d := cmp.Diff(got, again); d != "" || s.What != "" || enable {
		t.Errorf("twice: %s %+v", d, s)
	}
	if _, s, _ := TakeBack(Record{}, nil, Hard, at(0), at(0)); s.What != "" {
		t.Errorf("nothing to undo: %+v", s)
	}
}

func TestStormNeeds(t *testing.T) {
	for _, tc := range []struct {
		percent int64
		members int
		want    int
	}{{10, 20, 5}, {10, 49, 5}, {10, 50, 6}, {10, 1000, 101}, {0, 1000, 0}, {100, 3, 5}} {
		c := defaults()
		c.Storm = tc.percent
		if got := c.StormNeeds(tc.members); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

func TestPoints(t *testing.T) {
	for text, want := range map[string]string{"5": "5.0", "5.0": "5.0", "0.25": "0.25", "0": "0.0", "3.10": "3.1", "2.500": "2.5", "10000": "10000.0"} {
		p, err := ParsePoints(text)
		if err != nil || p.String() != want {
			t.Errorf("%q: %s, %v", text, p, err)
		}
		b, err := p.MarshalJSON()
		var back Points
		if err != nil || back.UnmarshalJSON(b) != nil || back != p {
			t.Errorf("%q: %s comes back as %s", text, b, back)
		}
	}
	for _, text := range []string{"", ".", "5.", "-1", "1.005", "10001", "x", "1e3", "1,5", "+1"} {
		if p, err := ParsePoints(text); err == nil {
			t.Errorf("%q was read as %s", text, p)
		}
	}
	var p Points
	if err := p.UnmarshalJSON([]byte("-0.5")); err != nil || p != -50 || p.String() != "-0.5" {
		t.Errorf("%s, %v", p, err)
	}
}

func TestAppend(t *testing.T) {
	var steps []Step
	for i := range 50 {
		steps = Append(steps, Step{At: at(i), What: Bounced, Points: 1, Why: "x"})
	}
	if len(steps) != maxSteps || !steps[maxSteps-1].At.Equal(at(49)) {
		t.Errorf("%d steps, last %v", len(steps), steps[len(steps)-1])
	}
	old := Append(nil, Step{At: at(0), What: Bounced, Kind: Policy, Why: "spam"})
	same := Append(old, Step{At: at(0, 1), What: Bounced, Kind: Policy, Why: "spam"})
	if len(same) != 1 || same[0].More != 1 || old[0].More != 0 {
		t.Errorf("%+v from %+v", same, old)
	}
	if next := Append(same, Step{At: at(1), What: Bounced, Kind: Policy, Why: "spam"}); len(next) != 2 {
		t.Errorf("%+v", next)
	}
}

func TestFromSettings(t *testing.T) {
	want := defaults()
	want.Complaint = ComplaintDisable
	if d := cmp.Diff(want, FromSettings(lists.Resolve())); d != "" {
		t.Error(d)
	}
}
