package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
)

func TestCommitIsSeenByAnotherHost(t *testing.T) { onEach(t, testCommitIsSeenByAnotherHost) }

func testCommitIsSeenByAnotherHost(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	h := w.lock(a)
	if h.Unclean() {
		t.Error("the first grant is unclean")
	}
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	w.commit(h, AddMember{member(1)}, SetSetting{"subject_prefix", "[news] "}, SetPostID{7},
		HoldPost{HeldPost{ID: "h1", Subject: "hello", Since: at}}, MarkSeen{Key: "k", At: at},
		OpenHandover{Handover{Entry: "in/news@example.org/1", Stage: "stage/x", Children: []Placed{{Staged: "1", Target: "queue/out/1"}}}},
		MarkAttempt{Entry: "in/news@example.org/2", Count: 1, Cause: "boom", At: at})
	got := w.read(b)
	if diff := cmp.Diff(dump(h.State()), dump(got)); diff != "" {
		t.Errorf("holder's state and reader's differ: %s", diff)
	}
	l := got.List()
	m, ok := l.Roster.Find(lists.RoleMember, "USER0000001@example.com")
	if !ok || m.ID != 1 {
		t.Errorf("member %v, %v", m, ok)
	}
	if l.Settings.Text("subject_prefix") != "[news] " || l.Settings.Source("subject_prefix") != "list" || l.PostID != 7 {
		t.Errorf("list %+v", l)
	}
	if got, ok := got.Seen("k"); !ok || !got.Equal(at) {
		t.Errorf("seen %v %v", got, ok)
	}
	if a, ok := got.Attempt("in/news@example.org/2"); !ok || a.Count != 1 || a.Cause != "boom" {
		t.Errorf("attempt %+v %v", a, ok)
	}
	if _, err := b.TryLock(t.Context(), testList, ""); !errors.Is(err, locking.ErrHeld) {
		t.Errorf("TryLock of a held list: %v", err)
	}
	w.release(h, CloseHandover{"in/news@example.org/1"}, ClearAttempt{"in/news@example.org/2"})
	h = w.lock(b)
	if h.Unclean() || len(h.State().Handovers()) != 0 {
		t.Errorf("after a clean release: unclean %v, hand-overs %v", h.Unclean(), h.State().Handovers())
	}
	if _, ok := h.State().Attempt("in/news@example.org/2"); ok {
		t.Error("attempt was not cleared")
	}
	w.release(h)
	wantErr(t, h.Release(t.Context()), ErrReleased)
	wantErr(t, h.Commit(t.Context(), By{}, SetPostID{9}), ErrReleased)
}

func TestChangesThatDoNotFit(t *testing.T) { onEach(t, testChangesThatDoNotFit) }

func testChangesThatDoNotFit(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	w.commit(h, AddMember{member(1)}, AddMember{member(2)}, HoldPost{HeldPost{ID: "h"}})
	before := dump(h.State())
	two := member(2)
	two.ID = 1
	for _, c := range []struct {
		change Change
		want   error
	}{
		{AddMember{member(1)}, ErrMemberExists},
		{AddMember{lists.Member{Role: "king", Address: "a@b.org"}}, nil},
		{AddMember{lists.Member{Role: lists.RoleOwner, Address: "no address"}}, mailaddr.ErrSyntax},
		{DelMember{lists.RoleOwner, member(1).Address}, ErrNoMember},
		{SetMember{member(3)}, ErrNoMember},
		{SetMember{two}, ErrMemberExists},
		{SetSetting{"no_such_thing", "1"}, nil},
		{SetSetting{"emergency", "perhaps"}, nil},
		{UnsetSetting{"no_such_thing"}, nil},
		{DropHeld{"x"}, ErrNoHeld},
		{HoldPost{HeldPost{ID: "h"}}, nil},
		{OpenHandover{}, nil},
		{MarkAttempt{}, nil},
		{MarkSeen{}, nil},
	} {
		err := h.Commit(t.Context(), By{}, SetPostID{5}, c.change)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%+v: error %v, want %v", c.change, err, c.want)
		}
	}
	if diff := cmp.Diff(before, dump(h.State())); diff != "" {
		t.Errorf("a refused commit changed the state: %s", diff)
	}
	if diff := cmp.Diff(before, dump(w.read(w.host("b")))); diff != "" {
		t.Errorf("a refused commit is in the log: %s", diff)
	}
	w.release(h)
}

func TestUncleanAfterALostHolder(t *testing.T) { onEach(t, testUncleanAfterALostHolder) }

func testUncleanAfterALostHolder(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	h := w.lock(a)
	w.commit(h, SetPostID{1})
	w.locks.Steal(testList) // a dies
	h = w.lock(b)
	if !h.Unclean() {
		t.Error("the grant after a dead holder is clean")
	}
	w.release(h)
	h = w.lock(a)
	if h.Unclean() {
		t.Error("the grant after a clean release is unclean")
	}
	w.release(h)
}

func TestMembersKeepTheirNumbers(t *testing.T) { onEach(t, testMembersKeepTheirNumbers) }

func testMembersKeepTheirNumbers(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	w.commit(h, AddMember{member(1)}, AddMember{member(2)})
	w.commit(h, DelMember{lists.RoleMember, member(2).Address})
	w.commit(h, AddMember{member(3)})
	r := h.State().List().Roster
	if m, ok := r.Find(lists.RoleMember, member(3).Address); !ok || m.ID != 3 {
		t.Errorf("third member is %+v, want number 3", m)
	}
	if _, ok := r.ByID(2); ok {
		t.Error("number 2 is still found")
	}
	moved := member(9)
	moved.ID, moved.Status = 1, lists.StatusByBounces
	w.commit(h, SetMember{moved})
	r = w.read(w.host("b")).List().Roster
	if _, ok := r.Find(lists.RoleMember, member(1).Address); ok {
		t.Error("old address is still found")
	}
	if m, ok := r.Find(lists.RoleMember, member(9).Address); !ok || m.ID != 1 || m.Status != lists.StatusByBounces {
		t.Errorf("moved member %+v", m)
	}
	if r.Count(lists.RoleMember) != 2 {
		t.Errorf("count %d, want 2", r.Count(lists.RoleMember))
	}
	w.release(h)
}

func TestSeenIsForgottenByTheRecordsTime(t *testing.T) {
	onEach(t, testSeenIsForgottenByTheRecordsTime)
}

func testSeenIsForgottenByTheRecordsTime(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.commit(h, MarkSeen{Key: "day", At: t0}, MarkSeen{Key: "hour", At: t0, Until: t0.Add(time.Hour)})
	w.commit(h, MarkSeen{Key: "later", At: t0.Add(2 * time.Hour)})
	_, day := h.State().Seen("day")
	_, hour := h.State().Seen("hour")
	if !day || hour {
		t.Errorf("day %v, hour %v; want true, false", day, hour)
	}
	w.commit(h, MarkSeen{Key: "last", At: t0.Add(25 * time.Hour)})
	if _, day := h.State().Seen("day"); day {
		t.Error("a day later it is still remembered")
	}
	if diff := cmp.Diff(dump(h.State()), dump(w.read(w.host("b")))); diff != "" {
		t.Error(diff)
	}
	w.release(h)
}

func TestHandoversAreInOrderOfOpening(t *testing.T) { onEach(t, testHandoversAreInOrderOfOpening) }

func testHandoversAreInOrderOfOpening(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	w.commit(h, OpenHandover{Handover{Entry: "z"}}, OpenHandover{Handover{Entry: "b"}})
	w.commit(h, OpenHandover{Handover{Entry: "a"}})
	var got []string
	for _, o := range w.read(w.host("b")).Handovers() {
		got = append(got, o.Entry)
	}
	if diff := cmp.Diff([]string{"z", "b", "a"}, got); diff != "" {
		t.Error(diff)
	}
	w.release(h)
}
