package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/locking"
	"qrunner/locking/fsys"
)

// Row 1: a linked record is valid for good. A commits record 4, naming an entry; B
// takes over, fences 5 and loads through 4. A must not take 4 for void, and B must
// find the hand-over open.
func TestRow1LinkedIsCommittedForGood(t *testing.T) { onEach(t, testRow1LinkedIsCommittedForGood) }

func testRow1LinkedIsCommittedForGood(t *testing.T, w *world) {
	b := w.host("b")
	w.create(b)
	var taken *Holder
	fs := fsys.Observed(w.view("a"), fsys.Hook{After: func(op, name string, err error) error {
		// As soon as A's commit is linked, B has the list.
		if op == "dirlink" && strings.HasSuffix(name, number(3)) && taken == nil {
			w.locks.Steal(testList)
			taken = w.lock(b)
		}
		return err
	}})
	a := w.hostOn(fs, "a", 0)
	h := w.lock(a) // fence 2
	open := OpenHandover{Handover{Entry: "in/news@example.org/E"}}
	if err := h.Commit(t.Context(), By{}, open); err != nil {
		t.Fatalf("a linked record was not taken for committed: %v", err)
	}
	if taken == nil {
		t.Fatal("B was never there")
	}
	if got := taken.State().Handovers(); len(got) != 1 {
		t.Errorf("B sees hand-overs %v", got)
	}
	err := h.Commit(t.Context(), By{}, SetPostID{1})
	wantErr(t, err, ErrFenced)
	wantErr(t, err, locking.ErrLost)
	w.commit(taken, SetPostID{2})
	w.release(taken)
	if got := w.read(a).List().PostID; got != 2 {
		t.Errorf("post id %d", got)
	}
}

// The number may be taken by the fence of a grant that failed: the holder goes
// through the grant again and repeats.
func TestFenceOfAFailedGrant(t *testing.T) { onEach(t, testFenceOfAFailedGrant) }

func testFenceOfAFailedGrant(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	h := w.lock(a)
	before := h.Token()
	if _, err := b.fence(t.Context(), testList, "came too late"); err != nil {
		t.Fatal(err)
	}
	w.commit(h, SetPostID{1})
	if h.Token() <= before || h.Unclean() {
		t.Errorf("token %d after %d, unclean %v", h.Token(), before, h.Unclean())
	}
	w.commit(h, SetPostID{2})
	w.release(h)
	h = w.lock(b)
	if h.Unclean() || h.State().List().PostID != 2 {
		t.Errorf("unclean %v, post id %d", h.Unclean(), h.State().List().PostID)
	}
	w.release(h)
}

// A holder whose number was taken by a commit must decide anew.
func TestStateChangedUnderAHolder(t *testing.T) { onEach(t, testStateChangedUnderAHolder) }

func testStateChangedUnderAHolder(t *testing.T, w *world) {
	a, b := w.host("a"), w.host("b")
	w.create(a)
	h := w.lock(a)
	held := w.locks.held[locking.Key(testList)]
	w.locks.Steal(testList)
	other := w.lock(b)
	w.commit(other, SetPostID{5})
	w.release(other)
	w.locks.held[locking.Key(testList)] = held // the lock service believes in a again
	err := h.Commit(t.Context(), By{}, SetPostID{1})
	if !errors.Is(err, ErrFenced) || errors.Is(err, locking.ErrLost) {
		t.Fatalf("error %v, want ErrFenced alone", err)
	}
	if h.State().List().PostID != 5 {
		t.Errorf("state was not loaded anew: post id %d", h.State().List().PostID)
	}
	w.commit(h, SetPostID{6})
	w.release(h)
}

// Row 6: a collector does not reopen taken numbers. A sleeper at record n links n+1
// after it was collected; nobody may believe that record.
func TestRow6SleeperBelowTheBase(t *testing.T) { onEach(t, testRow6SleeperBelowTheBase) }

func testRow6SleeperBelowTheBase(t *testing.T, w *world) {
	a, b, idle := w.host("a"), w.hostOn(w.view("b"), "b", 10), w.host("idle")
	w.create(a)
	sleeper := w.lock(a) // fence 2
	w.commit(sleeper, SetPostID{1})
	w.read(idle) // has record 3 in memory
	w.locks.Steal(testList)
	w.work(b, 30)
	v, err := b.look(sleeper.gen.dir(), true)
	if err != nil || len(v.records) == 0 || v.records[0] <= 4 {
		t.Fatalf("nothing was collected: %v, %v", v, err)
	}
	data, d, err := sleeper.prepare(&Record{Kind: KindCommit, Changes: Changes{SetPostID{1000}}})
	if err != nil {
		t.Fatal(err)
	}
	done, err := sleeper.append(t.Context(), data, d)
	if done {
		t.Error("the sleeper believes that it committed")
	}
	wantErr(t, err, ErrFenced)
	if v, _ := b.look(sleeper.gen.dir(), true); v.records[0] != 4 {
		t.Fatalf("the sleeper's record 4 is not there: %v", v.records)
	}
	for _, s := range []*Store{idle, b, w.host("new")} {
		if got := w.read(s).List().PostID; got != 31 {
			t.Errorf("host %s: post id %d, want 31", s.Host, got)
		}
	}
	n := 0
	for r := range recordsOf(t, idle) {
		if r.N == 4 && r.Kind == KindCommit && r.Host == "a" {
			n++
		}
	}
	if n > 0 {
		t.Error("the sleeper's record is in the audit trail")
	}
}

// Row 21: a grant with a stale head must not fence below the base.
func TestRow21FenceBelowTheBase(t *testing.T) { onEach(t, testRow21FenceBelowTheBase) }

func testRow21FenceBelowTheBase(t *testing.T, w *world) {
	b := w.hostOn(w.view("b"), "b", 10)
	w.create(b)
	a := w.hostOn(&staleDir{FS: w.view("a"), name: "/log"}, "a", 0)
	w.work(b, 30)
	h := w.lock(a)
	v, err := b.look(h.gen.dir(), true)
	if err != nil || v.records[0] != 2 {
		t.Fatalf("there was no fence at record 2: %v, %v", v.records, err)
	}
	base := v.base()
	if uint64(h.Token()) <= base || h.State().List().PostID != 30 {
		t.Errorf("token %d, base %d, post id %d", h.Token(), base, h.State().List().PostID)
	}
	w.commit(h, SetPostID{31})
	w.release(h)
	if got := w.read(w.host("c")).List().PostID; got != 31 {
		t.Errorf("post id %d, want 31", got)
	}
}

// staleDir shows a folder with record 1 only the first time: a listing from long ago.
type staleDir struct {
	fsys.FS
	name string
	told bool
}

func (s *staleDir) ReadDir(name string) ([]fsys.DirEntry, error) {
	if strings.HasSuffix(name, s.name) && !s.told {
		s.told = true
		return []fsys.DirEntry{{Name: number(1)}}, nil
	}
	return s.FS.ReadDir(name)
}

// A gap above the base refuses the list to a holder; a reader gets the state before
// the gap.
func TestGapRefusesTheList(t *testing.T) { onEach(t, testGapRefusesTheList) }

func testGapRefusesTheList(t *testing.T, w *world) {
	a := w.host("a")
	w.create(a)
	w.work(a, 3) // records 2 to 10
	h := w.lock(a)
	dir := h.gen.dir()
	w.release(h)
	if err := w.fs.Rename(dir.record(6), "aside"); err != nil {
		t.Fatal(err)
	}
	b := w.host("b")
	_, err := b.Lock(t.Context(), testList, "")
	gap, ok := errors.AsType[*GapError](err)
	if !ok || gap.Missing != 6 {
		t.Errorf("error %v, want a gap at 6", err)
	}
	if got := w.read(b).List().PostID; got != 1 {
		t.Errorf("reader sees post id %d, want 1", got)
	}
	if v := mustLook(t, b, h.gen); v.head() != 12 {
		t.Errorf("fences pile up behind the gap: %v", v.records)
	}
	if err := w.fs.Rename("aside", dir.record(6)); err != nil {
		t.Fatal(err)
	}
	w.release(w.lock(b))
	if got := w.read(b).List().PostID; got != 3 {
		t.Errorf("post id %d, want 3", got)
	}
}

func TestLostBeginningIsNoEmptyList(t *testing.T) { onEach(t, testLostBeginningIsNoEmptyList) }

func testLostBeginningIsNoEmptyList(t *testing.T, w *world) {
	a := w.host("a")
	w.create(a)
	w.work(a, 1)
	g, _ := a.current(t.Context(), testList)
	if err := w.fs.Remove(g.dir().record(1)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if st, err := w.host("b").Read(t.Context(), testList); err == nil || errors.Is(err, lists.ErrNoList) {
			t.Errorf("Read gives %v, %v", st, err)
		}
		for n := range uint64(4) {
			_ = w.fs.Remove(g.dir().record(n + 1))
		}
		if err := second(w.host("b").Lock(t.Context(), testList, "")); err == nil || errors.Is(err, lists.ErrNoList) {
			t.Errorf("Lock says %v", err)
		}
	}
	if v := mustLook(t, a, g); slices.Contains(v.records, 1) {
		t.Errorf("the log has a new beginning: %v", v.records)
	}
}

func TestRecordsIsTheAuditTrail(t *testing.T) { onEach(t, testRecordsIsTheAuditTrail) }

func testRecordsIsTheAuditTrail(t *testing.T, w *world) {
	s := w.hostOn(w.view("a"), "a", 10)
	w.create(s)
	h := w.lock(s)
	w.commit(h, AddMember{member(1)})
	w.release(h)
	w.work(s, 40)
	h = w.lock(s)
	w.commit(h, DelMember{lists.RoleMember, member(1).Address})
	w.release(h)
	var kinds []string
	var last uint64
	for r := range recordsOf(t, w.host("b")) {
		if r.N <= last {
			t.Fatalf("record %d after %d", r.N, last)
		}
		last = r.N
		if r.Kind == KindCreate {
			kinds = append(kinds, "create")
		}
		for _, c := range r.Changes {
			if strings.Contains(c.Kind(), "member") {
				kinds = append(kinds, c.Kind()+" by "+r.Actor+" "+r.Reason+" on "+r.Host)
			}
		}
	}
	want := []string{"create", "add_member by test because on a", "del_member by test because on a"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	wantErr(t, s.Records(t.Context(), testList, func(Record) error { return stop }), stop)
}

func recordsOf(t *testing.T, s *Store) func(func(Record) bool) {
	t.Helper()
	var all []Record
	if err := s.Records(t.Context(), testList, func(r Record) error { all = append(all, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return slices.Values(all)
}

func TestCancelledContextChangesNothing(t *testing.T) { onEach(t, testCancelledContextChangesNothing) }

func testCancelledContextChangesNothing(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, h.Commit(ctx, By{}, SetPostID{1}), context.Canceled)
	w.commit(h, SetPostID{2})
	w.release(h)
	if h = w.lock(w.host("b")); h.Unclean() {
		t.Error("unclean")
	}
	w.release(h)
}
