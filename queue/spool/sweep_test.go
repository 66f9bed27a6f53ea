package spool

import (
	"errors"
	"io"
	"path"
	"slices"
	"testing"
	"time"

	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// Only attempts of this incarnation, of older grants, old, and named by no open
// hand-over go.
func TestStageSweepTakesOnlyWhatIsDead(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	l := newLocker()
	setUp(t, srv.Host("setup"), l)
	n := newNode(srv.Host("a"), l, "a")
	for range 2 { // so that there are older grants
		if err := n.work(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	h, err := n.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	inc, token := h.State().Incarnation(), h.Token()
	name := func(inc string, token locking.Token, try uint64) string { return stageName{inc, token, try}.String() }
	dead, named := name(inc, token-1, 1), name(inc, token-1, 2)
	kept := []string{named, name(inc, token, 1), name(inc, token+1, 1), name("another", token-1, 1), "by hand"}
	stage := path.Join("queue/stage", string(ant))
	for _, x := range append(kept, dead) {
		if err := fsys.MkdirAll(n.c.FS, path.Join(stage, x, "fanout")); err != nil {
			t.Fatal(err)
		}
	}
	ho := store.Handover{Entry: "in/x/y", Stage: path.Join("stage", string(ant), named)}
	if err := h.Commit(t.Context(), nobody, store.OpenHandover{Handover: ho}); err != nil {
		t.Fatal(err)
	}
	left := func() []string { return dirNames(t, srv.Observer(), stage) }
	if err := n.sweepStage(t.Context(), h); err != nil || !slices.Contains(left(), dead) {
		t.Errorf("a young one is swept: %v, %v", left(), err)
	}
	srv.SetClock(2 * stageAge)
	slices.Sort(kept)
	if err := n.sweepStage(t.Context(), h); err != nil || !slices.Equal(left(), kept) {
		t.Errorf("left %v, want %v; %v", left(), kept, err)
	}
}

// A holder that lost its list unawares sees the file of a post that its successor
// holds, and leaves it alone.
func TestHeldSweepOfASleeper(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	l := newLocker()
	setUp(t, srv.Host("setup"), l, "hold")
	a, b := newNode(srv.Host("a"), l, "a"), newNode(srv.Host("b"), l, "b")
	h, err := a.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.work(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := a.sweepFiles(t.Context(), h, heldDir, heldNames); !errors.Is(err, locking.ErrLost) {
		t.Errorf("the sleeper sweeps: %v", err)
	}
	if got := outcome(t, srv.Observer()); got["held hold"] != 1 {
		t.Errorf("the held post is gone: %v", got)
	}
}

// The file of a dropped post whose host died goes at the next unclean grant.
func TestHeldSweep(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	l := newLocker()
	setUp(t, srv.Host("setup"), l, "hold")
	a := newNode(srv.Host("a"), l, "a")
	if err := a.work(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	h, err := a.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Commit(t.Context(), nobody, store.DropHeld{ID: "hold"}); err != nil {
		t.Fatal(err)
	}
	if err := newNode(srv.Host("b"), l, "b").work(t.Context(), 1); err != nil { // a never released
		t.Fatal(err)
	}
	if got := outcome(t, srv.Observer()); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
}

func TestTmpSweepGoesByTheServersClock(t *testing.T) {
	srv := simfs.New(simfs.Config{})
	setUp(t, srv.Host("setup"), newLocker(), "one")
	n := newNode(srv.Host("a"), nil, "a")
	old := "queue/tmp/other.1"
	if err := fsys.WriteNew(n.c.FS, old, func(w io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		at   time.Duration
		left int
	}{{0, 1}, {tmpAge - time.Hour, 1}, {tmpAge + time.Hour, 0}} {
		srv.SetClock(step.at)
		if err := n.SweepTmp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := dirNames(t, srv.Observer(), "queue/tmp"); len(left) != step.left {
			t.Errorf("after %v: %v", step.at, left)
		}
	}
	if got := outcome(t, srv.Observer()); got[string(queue.In)+" one"] != 1 {
		t.Errorf("the queue: %v", got)
	}
}
