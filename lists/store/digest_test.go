package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
)

func digestPost(i int) AddToDigest {
	at := time.Date(2026, 5, 6, 7, 8, i, 0, time.UTC)
	return AddToDigest{DigestPost{ID: fmt.Sprintf("%08d.x", i), N: uint64(i), Size: 100, Since: at, Sum: "s"}}
}

func TestDigest(t *testing.T) { onEach(t, digest) }

// Posts gather, a digest takes them all or none, and the next begins empty.
func digest(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	w.commit(h, digestPost(2), digestPost(1))
	got := h.State().Digest()
	if len(got.Posts) != 2 || got.Posts[0].N != 1 || got.Size != 200 || h.State().DigestSize() != 200 || got.Volume != 0 {
		t.Fatalf("%+v", got)
	}
	at := time.Date(2026, 5, 7, 0, 0, 0, 0, time.UTC)
	ids := []string{got.Posts[0].ID, got.Posts[1].ID}
	for _, c := range []Change{
		digestPost(1),
		AddToDigest{DigestPost{ID: "x"}},
		CloseDigest{Volume: 1, Issue: 1, At: at, Posts: ids[:1]},
		CloseDigest{Volume: 1, Issue: 1, At: at, Posts: append(ids[:2:2], "y")},
		CloseDigest{Volume: -1, Issue: 1, At: at, Posts: ids},
		SetDigest{Volume: -1},
	} {
		if err := h.Commit(t.Context(), By{}, c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	w.commit(h, CloseDigest{Volume: 1, Issue: 1, At: at, Posts: ids}, digestPost(3))
	want := Digest{Volume: 1, Issue: 1, SentAt: at, Posts: []DigestPost{digestPost(3).Post}, Size: 100}
	if diff := cmp.Diff(want, h.State().Digest()); diff != "" {
		t.Error(diff)
	}
	w.commit(h, SetDigest{Volume: 4, Issue: 9, SentAt: at})
	w.release(h)
	if got := w.read(w.host("b")).Digest(); got.Volume != 4 || got.Issue != 9 || len(got.Posts) != 1 {
		t.Errorf("%+v", got)
	}
}

// Who changes from digests to single posts gets what was collected for him.
func TestOneLastDigest(t *testing.T) { onEach(t, oneLastDigest) }

func oneLastDigest(t *testing.T, w *world) {
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	set := func(i int, mode lists.DeliveryMode) SetMember {
		m := member(i)
		m.ID, m.Mode = lists.MemberID(i), mode
		return SetMember{m}
	}
	for i := 1; i <= 3; i++ {
		m := member(i)
		m.Mode = lists.ModePlainDigests
		w.commit(h, AddMember{m})
	}
	w.commit(h, set(1, lists.ModeRegular)) // nothing was collected
	w.commit(h, digestPost(1), set(2, lists.ModeRegular), set(3, ""), set(1, lists.ModeMIMEDigests))
	want := []LastDigest{{2, lists.ModePlainDigests}, {3, lists.ModePlainDigests}}
	if diff := cmp.Diff(want, h.State().Digest().Last); diff != "" {
		t.Error(diff)
	}
	w.commit(h, set(3, lists.ModeMIMEDigests)) // changed his mind
	w.release(h)
	if diff := cmp.Diff(want[:1], w.read(w.host("b")).Digest().Last); diff != "" {
		t.Error(diff)
	}
	h = w.lock(s)
	w.commit(h, CloseDigest{Volume: 1, Issue: 1, Posts: []string{digestPost(1).Post.ID}})
	if got := h.State().Digest(); len(got.Last) != 0 || len(got.Posts) != 0 {
		t.Errorf("%+v", got)
	}
	w.release(h)
}
