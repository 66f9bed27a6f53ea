package world_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	. "qrunner/queue/queuetest/world"
)

const ant, bee, cow lists.ID = "ant@lists.example.com", "bee@lists.example.com", "cow@lists.example.com"

// inWorld runs f in a World of its own and fails with every promise that was broken.
func inWorld(t *testing.T, c Config, f func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, err := New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		f(t, w)
		if t.Failed() || len(w.Broken()) > 0 {
			for _, l := range w.Log.Lines("") {
				t.Log(l)
			}
		}
		for _, b := range w.Broken() {
			t.Error(b)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestQuietDay(t *testing.T) {
	for _, gated := range []bool{false, true} {
		inWorld(t, Config{Seed: 1, Lists: []lists.ID{ant, bee}, People: 12, Gated: gated}, func(t *testing.T, w *World) {
			must(t, w.Start())
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			for n := range 6 {
				must(t, w.Post(ctx, "a", Pipe, ant, 2*n))
				must(t, w.Post(ctx, "b", LMTP, bee, 2*n+1))
			}
			w.Drain(ctx, 10*time.Minute)
			must(t, w.Join(ctx, "a", ant, "new@people.example.org"))
			w.Settle(ctx)
			if got := len(w.Sink.Copies()); got != 12*12 {
				t.Errorf("%d copies, want 144", got)
			}
			must(t, w.Stop())
			w.Leavings(t.Context())
		})
	}
}
