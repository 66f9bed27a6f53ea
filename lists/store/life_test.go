package store

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
)

func TestCreateAndDelete(t *testing.T) { onEach(t, testCreateAndDelete) }

func testCreateAndDelete(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	exists := func(want bool) {
		t.Helper()
		for _, s := range []*Store{a, b} {
			if got, err := s.Exists(t.Context(), testList); err != nil || got != want {
				t.Errorf("host %s: exists %v, %v; want %v", s.Host, got, err, want)
			}
		}
	}
	exists(false)
	_, err := a.Read(t.Context(), testList)
	wantErr(t, err, lists.ErrNoList)
	_, err = a.Lock(t.Context(), testList, "")
	wantErr(t, err, lists.ErrNoList)
	w.create(a)
	exists(true)
	wantErr(t, b.Create(t.Context(), testList, By{}), ErrExists)
	first := w.read(b).Incarnation()
	h := w.lock(b)
	w.commit(h, AddMember{member(1)})
	w.release(h)
	if err := a.Delete(t.Context(), testList, By{Actor: "x"}); err != nil {
		t.Fatal(err)
	}
	exists(false)
	for _, s := range []*Store{a, b} {
		_, err = s.Read(t.Context(), testList)
		wantErr(t, err, lists.ErrNoList)
		_, err = s.Lock(t.Context(), testList, "")
		wantErr(t, err, lists.ErrNoList)
	}
	w.create(b)
	exists(true)
	st := w.read(a)
	if st.Incarnation() == first || st.List().Roster.Count(lists.RoleMember) != 0 {
		t.Errorf("the new list is the old one: %s, %d members", st.Incarnation(), st.List().Roster.Count(lists.RoleMember))
	}
	w.release(w.lock(a))
	got, err := a.Lists(t.Context())
	if err != nil || !slices.Equal(got, []lists.ID{testList}) {
		t.Errorf("lists %v, %v", got, err)
	}
}

func TestDeleteRefusesUnfinishedWork(t *testing.T) { onEach(t, testDeleteRefusesUnfinishedWork) }

func testDeleteRefusesUnfinishedWork(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	w.commit(h, OpenHandover{Handover{Entry: "in/x/1"}})
	wantErr(t, h.Delete(t.Context(), By{}), ErrUnfinished)
	w.commit(h, CloseHandover{"in/x/1"}, HoldPost{HeldPost{ID: "h"}})
	wantErr(t, h.Delete(t.Context(), By{}), ErrUnfinished)
	w.commit(h, DropHeld{"h"})
	if err := h.Delete(t.Context(), By{}); err != nil {
		t.Fatal(err)
	}
	w.release(h)
}

// Row 31: a sleeper of a deleted list does not write into the new one.
func TestRow31SleeperOfADeletedList(t *testing.T) { onEach(t, testRow31SleeperOfADeletedList) }

func testRow31SleeperOfADeletedList(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	sleeper := w.lock(a)
	w.commit(sleeper, SetPostID{1})
	w.locks.Steal(testList)
	if err := b.Delete(t.Context(), testList, By{}); err != nil {
		t.Fatal(err)
	}
	w.create(b)
	before := dump(w.read(b))
	err := sleeper.Commit(t.Context(), By{}, SetPostID{99})
	wantErr(t, err, ErrFenced)
	if got := dump(w.read(w.host("c"))); got != before {
		t.Errorf("the new list has changed:\n%s", got)
	}
	_ = sleeper.Release(t.Context())
	if got := dump(w.read(w.host("c"))); got != before {
		t.Errorf("the new list has changed at the sleeper's release:\n%s", got)
	}
	h := w.lock(a) // its memory is of the old list
	if h.State().Incarnation() != w.read(b).Incarnation() {
		t.Error("host a holds the old list")
	}
	w.release(h)
}

// Two hosts that both hold the lock, by mistake, make one list.
func TestTwoCreatorsMakeOneList(t *testing.T) { onEach(t, testTwoCreatorsMakeOneList) }

func testTwoCreatorsMakeOneList(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	if err := a.create(t.Context(), testList, By{}, nil); err != nil {
		t.Fatal(err)
	}
	g := generation{N: 1, List: testList, Incarnation: random()}
	if err := b.firstRecord(g, By{}, nil); err != nil {
		t.Fatal(err)
	}
	wantErr(t, b.publish(g, g.dir().temp("generation")), ErrExists)
	if got := w.read(b).Incarnation(); got == g.Incarnation {
		t.Error("the loser's incarnation is current")
	}
	wantErr(t, b.create(t.Context(), testList, By{}, nil), ErrExists)
}

// A host that dies between the final record and the tombstone leaves a deleted list.
func TestDeathBeforeTheTombstone(t *testing.T) { onEach(t, testDeathBeforeTheTombstone) }

func testDeathBeforeTheTombstone(t *testing.T, w *world) {
	a := w.host("a")
	w.create(a)
	h := w.lock(a)
	if err := h.commit(t.Context(), KindDelete, By{}, nil); err != nil {
		t.Fatal(err)
	}
	w.locks.Steal(testList)
	_, err := w.host("b").Read(t.Context(), testList)
	wantErr(t, err, lists.ErrNoList)
	_, err = w.host("c").Lock(t.Context(), testList, "")
	wantErr(t, err, lists.ErrNoList)
	w.create(w.host("d"))
	w.read(a)
}

func TestDeathBeforeTheTombstoneThenCreate(t *testing.T) {
	onEach(t, testDeathBeforeTheTombstoneThenCreate)
}

func testDeathBeforeTheTombstoneThenCreate(t *testing.T, w *world) {
	a := w.host("a")
	w.create(a)
	h := w.lock(a)
	if err := h.commit(t.Context(), KindDelete, By{}, nil); err != nil {
		t.Fatal(err)
	}
	w.locks.Steal(testList)
	w.create(w.host("d"))
	w.read(a)
}

// In a bubble, since unknown addresses wait for a listing that others share.
func TestResolve(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		synctest.Test(t, func(t *testing.T) {
			testResolve(t, w)
		})
	})
}

func testResolve(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	if err := a.Create(t.Context(), "news-owner@example.org", By{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), lists.Site, By{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address mailaddr.Address
		want    lists.Target
		err     error
	}{
		{"news@example.org", lists.Target{List: testList}, nil},
		{"News@example.org", lists.Target{List: testList}, nil},
		{"news-owner@example.org", lists.Target{List: "news-owner@example.org"}, nil},
		{"news-bounces+a=b.org@example.org", lists.Target{List: testList, Sub: lists.SubBounces, Extra: "a=b.org"}, nil},
		{"postmaster@example.org", lists.Target{List: lists.Site, Sub: lists.SubOwner}, nil},
		{"Abuse@example.org", lists.Target{List: lists.Site, Sub: lists.SubOwner}, nil},
		{"postmaster@example.com", lists.Target{}, lists.ErrNoList},
		{"new@example.org", lists.Target{}, lists.ErrNoList},
		{"_site@example.org", lists.Target{}, lists.ErrNoList},
	} {
		for range 2 { // the second time from the listing in memory
			got, err := b.Resolve(t.Context(), c.address)
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s: %+v, %v; want %+v, %v", c.address, got, err, c.want, c.err)
			}
		}
	}
	if err := a.Delete(t.Context(), "news-owner@example.org", By{}); err != nil {
		t.Fatal(err)
	}
	b = w.host("b") // without what is in memory for two seconds
	if got, err := b.Resolve(t.Context(), "news-owner@example.org"); err != nil || got != (lists.Target{List: testList, Sub: lists.SubOwner}) {
		t.Errorf("after the delete: %+v, %v", got, err)
	}
}

// Row 4: no doubt ever becomes "no such list".
func TestRow4DoubtIsNotNoList(t *testing.T) { onEach(t, testRow4DoubtIsNotNoList) }

func testRow4DoubtIsNotNoList(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	if err := w.fs.Remove(site.File); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		if _, err := s.Resolve(t.Context(), "nobody@example.org"); err == nil || errors.Is(err, lists.ErrNoList) {
			t.Errorf("%s: Resolve says %v", what, err)
		}
		if ok, err := s.Exists(t.Context(), "nobody@example.org"); ok || err == nil {
			t.Errorf("%s: Exists says %v, %v", what, ok, err)
		}
		if _, err := s.Read(t.Context(), "nobody@example.org"); err == nil || errors.Is(err, lists.ErrNoList) {
			t.Errorf("%s: Read says %v", what, err)
		}
	}
	check("without the site marker")
	if err := w.fs.Rename(root, "elsewhere"); err != nil {
		t.Fatal(err)
	}
	check("without any list folder")
	if _, err := w.host("new").Lists(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Lists says %v", err)
	}
}

// TestRow4StaleHandleIsNotNoList: ESTALE where the lists' folders are opened is doubt,
// however often it comes.
func TestRow4StaleHandleIsNotNoList(t *testing.T) { onEach(t, testRow4StaleHandleIsNotNoList) }

func testRow4StaleHandleIsNotNoList(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	for _, op := range []string{"opendir", "dirtouch", "dirreaddir", "readdir", "open"} {
		stale := fsys.Observed(w.view("b"), fsys.Hook{Before: func(o, _ string) error {
			if o == op {
				return syscall.ESTALE
			}
			return nil
		}})
		fresh := w.hostOn(stale, "b", 0)
		if _, err := fresh.Resolve(t.Context(), mailaddr.Address(testList)); errors.Is(err, lists.ErrNoList) {
			t.Errorf("ESTALE at every %s: Resolve says %v", op, err)
		}
		if ok, err := fresh.Exists(t.Context(), testList); !ok && err == nil {
			t.Errorf("ESTALE at every %s: Exists says no", op)
		}
	}
}
