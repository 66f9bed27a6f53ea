package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/erase"
)

func TestForget(t *testing.T) { onEach(t, testForget) }

// testForget: an address that was all over a list's state is nowhere below its folder
// afterwards; what is not about it is as before, for readers that were there and for new
// ones; and so is the audit trail.
func testForget(t *testing.T, w *world) {
	s, reader := w.host("a"), w.host("b")
	w.create(s)
	gone, stays := member(1), member(2)
	gone.Name = "Gerda Gone"
	words := erase.Address(gone.Address)
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	h := w.lock(s)
	if err := h.Import(t.Context(), By{}, func(yield func(lists.Member) bool) { _ = yield(gone) && yield(stays) }, nil); err != nil {
		t.Fatal(err)
	}
	owner := gone
	owner.Role = lists.RoleOwner
	who, _ := h.State().List().Roster.Find(lists.RoleMember, gone.Address)
	w.commit(h, AddMember{owner}, SetBounce{Member: who.ID, Record: score.Record{Address: gone.Address}},
		OpenPending{Pending{ID: "p", Token: "t", Kind: PendingLeave, State: PendingConfirm, Address: gone.Address, Name: "Gerda Gone", Since: at, Until: at.Add(time.Hour)}},
		SetSetting{"ban_list", "x@example.net\n" + string(gone.Address) + "\ny@example.net"}, SetSetting{"info", "Ask " + string(gone.Address) + "!"})
	w.commit(h, AddToDigest{DigestPost{ID: "1", From: "Gerda Gone <" + string(gone.Address) + ">", Sum: "s", Since: at}}, DropDigest{ID: "1"})
	w.read(reader)
	w.commit(h, h.State().Naming(gone.Address, words.Hide)...)
	before := dump(h.State())
	if err := h.Forget(t.Context(), By{Actor: "op", Reason: "forget"}, words.Hide); err != nil {
		t.Fatal(err)
	}
	w.release(h)
	for _, find := range []erase.Words{words, erase.MessageID("Gerda Gone")} {
		if err := (erase.Search{FS: s.FS}).Find(t.Context(), "lists", find, func(name string) error { t.Errorf("still in %s", name); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []*Store{reader, w.host("c")} {
		h := w.lock(other) // without the lock a reader may be late
		w.release(h)
		got := h.State()
		if _, ok := got.List().Roster.Find(lists.RoleMember, stays.Address); !ok {
			t.Error("the other member is gone too")
		}
		if v := got.Overrides(); v["ban_list"] != "x@example.net\ny@example.net" || v["info"] != "Ask xxxxxxxxxxx@xxxxxxxxxxx!" {
			t.Errorf("settings %q", v)
		}
	}
	kinds := map[string]int{}
	if err := reader.Records(t.Context(), testList, func(r Record) error {
		for _, c := range r.Changes {
			kinds[c.Kind()]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"add_member": 1, "del_member": 2, "import_members": 1}, pick(kinds, "add_member", "del_member", "import_members")); diff != "" {
		t.Errorf("audit trail: %s", diff)
	}
	h = w.lock(reader)
	w.commit(h, AddMember{member(3)})
	w.release(h)
	if before == dump(w.read(s)) {
		t.Error("the list is frozen")
	}
	h = w.lock(s) // once more is no harm
	if err := h.Forget(t.Context(), By{}, words.Hide); err != nil {
		t.Error(err)
	}
	w.release(h)
	w.read(w.host("d"))
}

func pick(from map[string]int, keys ...string) map[string]int {
	out := map[string]int{}
	for _, k := range keys {
		out[k] = from[k]
	}
	return out
}
