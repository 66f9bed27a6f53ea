package spool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/store"
	"qrunner/queue"
)

func TestAttemptDoesWhatWasDecided(t *testing.T) {
	for _, batch := range []int{1, 3, 10} {
		f, _ := openRoot(t)
		l := newLocker()
		setUp(t, f, l, subjects...)
		n := newNode(f, l, "a")
		if err := n.work(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wanted, outcome(t, f)); d != "" {
			t.Errorf("batches of %d:\n%s", batch, d)
		}
		if left := append(dirNames(t, f, "queue/stage/"+string(ant)), dirNames(t, f, "queue/tmp")...); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
		if left := dirNames(t, f, "queue/in"); len(left) > 0 {
			t.Errorf("empty folder stays: %v", left)
		}
		st, err := n.store.Read(t.Context(), ant)
		if err != nil || len(st.Handovers()) > 0 {
			t.Errorf("open hand-overs %v, %v", st.Handovers(), err)
		}
	}
}

func TestShuntedEntryTellsItsStoryAndComesBack(t *testing.T) {
	f, _ := openRoot(t)
	l := newLocker()
	setUp(t, f, l, "poison")
	n := newNode(f, l, "a")
	ctx := t.Context()
	h, err := n.store.Lock(ctx, ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	in, err := n.IDs(ctx, queue.In, ant)
	if err != nil || len(in) != 1 {
		t.Fatal(in, err)
	}
	key := Key(queue.In, ant, in[0])
	mark := store.MarkAttempt{Entry: key, Count: 3, Cause: "panic", At: noon}
	if err := h.Commit(ctx, store.By{}, mark); err != nil {
		t.Fatal(err)
	}
	if err := n.attempt(ctx, h, in); err != nil {
		t.Fatal(err)
	}
	if _, marked := h.State().Attempt(key); marked {
		t.Error("the mark of an entry that has left stays")
	}
	ids, err := n.IDs(ctx, queue.Shunt, ant)
	if err != nil || len(ids) != 1 || ids[0] == in[0] {
		t.Fatalf("shunt has %v, %v", ids, err)
	}
	e, err := n.Load(ctx, queue.Shunt, ant, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if m := e.Meta; m.From != queue.In || m.Count != 3 || !m.First.Equal(noon) || m.Last.IsZero() || !strings.Contains(m.Cause, "main.go:1") {
		t.Errorf("shunted with %+v", m)
	}
	a := n.NewAttempt(h)
	back, err := a.AddMove(ctx, e, e.Meta.From)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(ctx, store.By{Actor: "bob", Reason: "mended"}); err != nil {
		t.Fatal(err)
	}
	got, err := n.Load(ctx, queue.In, ant, back)
	if err != nil || back == in[0] || got.Meta.Cause != "" || got.Trace != e.Trace || got.Sender != e.Sender {
		t.Errorf("replayed as %+v, %v", got, err)
	}
	if err := n.Release(ctx, h); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"in poison": 1}, outcome(t, f)); d != "" {
		t.Error(d)
	}
}
