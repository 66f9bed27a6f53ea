package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/mailaddr"
)

// bouncedList has eight members who have bounced twice, the last time an hour apart
// by half; the last of them was disabled for it.
func bouncedList(t *testing.T, at time.Time) *State {
	t.Helper()
	st := emptyState("ant@lists.example.com", "i")
	st.seal(nil)
	s := &st
	apply := func(cs ...Change) {
		t.Helper()
		var err error
		if s, err = s.With(at, cs...); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		m := member(i)
		m.ID = lists.MemberID(i + 1)
		m.Address = mailaddr.Address(strings.Repeat("x", i+1) + "@Example.org")
		apply(AddMember{m})
		r := score.Record{Address: m.Address, Score: 100, Last: at.Add(-48 * time.Hour), Kind: score.Hard}
		apply(SetBounce{m.ID, r, score.Step{At: r.Last, What: score.Bounced, Kind: score.Hard, Points: 100, Score: 100}})
		r.Score, r.Last = 200, at.Add(-time.Hour*time.Duration(i%2)*2)
		step := score.Step{At: r.Last, What: score.Bounced, Kind: score.Hard, Points: 100, Score: 200}
		if i == 6 {
			m.Status, r.Disabled = lists.StatusByBounces, r.Last
			apply(SetMember{m})
		}
		apply(SetBounce{m.ID, r, step})
	}
	return s
}

func TestStormTakesBack(t *testing.T) {
	at := time.Date(2024, 1, 3, 10, 0, 0, 0, time.UTC)
	s := bouncedList(t, at)
	since := at.Add(-time.Hour)
	if got := slices.Collect(s.BouncedAlike("example.org", score.Hard, since)); !slices.Equal(got, []lists.MemberID{1, 3, 5, 7}) {
		t.Errorf("bounced alike: %v", got)
	}
	for _, none := range []score.Kind{score.Soft, score.Expired} {
		if got := slices.Collect(s.BouncedAlike("example.org", none, time.Time{})); got != nil {
			t.Errorf("%s: %v", none, got)
		}
	}
	storm := score.Storm{Domain: "example.org", Kind: score.Hard, Since: at, Until: at.Add(time.Hour), Members: 5}
	next, err := s.With(at, SetStorm{storm, at, since})
	if err != nil {
		t.Fatal(err)
	}
	for id := range lists.MemberID(8) {
		b, _ := next.Bounce(id + 1)
		want, steps := score.Points(100), 3
		if id%2 == 1 {
			want, steps = 200, 2
		}
		if b.Score != want || len(b.Steps) != steps || !b.Disabled.IsZero() {
			t.Errorf("member %d: %+v", id+1, b)
		}
	}
	if m, _ := next.List().Roster.ByID(7); m.Status != "" {
		t.Errorf("%+v", m)
	}
	if b, _ := s.Bounce(1); b.Score != 200 {
		t.Error("the state before has changed")
	}
	if x, ok := next.Storm("example.org", score.Hard); !ok || !x.Active(at) || x.Active(at.Add(time.Hour)) {
		t.Errorf("%+v", x)
	}
	last, err := next.With(at, SetStorm{score.Storm{Domain: "x.org", Kind: score.Soft}, at.Add(8 * 24 * time.Hour), time.Time{}})
	if err != nil || len(last.Storms()) != 1 {
		t.Errorf("%v, %v", last.Storms(), err)
	}
}

func TestBouncesInSnapshot(t *testing.T) {
	at := time.Date(2024, 1, 3, 10, 0, 0, 0, time.UTC)
	s := bouncedList(t, at)
	s, err := s.With(at, SetStorm{score.Storm{Domain: "example.org", Kind: score.Soft}, at, time.Time{}})
	if err != nil {
		t.Fatal(err)
	}
	s.version = 1
	back, err := decodeSnapshot(strings.NewReader(dump(s)))
	if err != nil || dump(back) != dump(s) {
		t.Fatalf("%v\n%s\n%s", err, dump(s), dump(back))
	}
	if got := slices.Collect(back.BouncedAlike("example.org", score.Hard, at)); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

// Nothing is left of a member who is gone, nor in the index of one who is forgotten.
func TestBounceGoesWithMember(t *testing.T) {
	at := time.Date(2024, 1, 3, 10, 0, 0, 0, time.UTC)
	s := bouncedList(t, at)
	b, _ := s.Bounce(1)
	next, err := s.With(at, DelMember{lists.RoleMember, b.Address}, DropBounce{2}, DropBounce{2}, DropBounce{99})
	if err != nil {
		t.Fatal(err)
	}
	for id := range lists.MemberID(2) {
		if _, ok := next.Bounce(id + 1); ok {
			t.Errorf("member %d is still there", id+1)
		}
	}
	if next.bounces.len() != 6 || next.alike.len() != 6 {
		t.Errorf("%d bounces, %d in the index", next.bounces.len(), next.alike.len())
	}
	if _, err := s.With(at, SetBounce{}); err == nil {
		t.Error("a bounce of nobody")
	}
}
