package world_test

import (
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// saturated is a World whose only host has two connections, and whose smarthost takes a
// second for each message; a post to 400 members of ant is under way in 40 transactions.
func saturated(t *testing.T, f func(t *testing.T, w *World)) {
	c := Config{
		Hosts: []string{"a"}, Lists: []lists.ID{ant, bee, cow}, People: 2, Batch: 400, Copies: 10, Conns: 2, Poll: time.Second,
		Own:  map[lists.ID]map[string]string{cow: {"default_nonmember_action": "hold", "respond_to_post_requests": "yes"}},
		Sink: queuetest.SinkConfig{Script: queuetest.Rules(queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Wait: time.Second}})},
	}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Crowd(ctx, ant, 400))
		must(t, w.Start())
		must(t, w.Post(ctx, "a", Pipe, ant, 0))
		time.Sleep(4 * time.Second)
		f(t, w)
		if n := took(w, ant); n == 0 || n > 300 {
			t.Errorf("%d copies of the large post by now", n)
		}
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
	})
}

// TestSmallPostAtASaturatedSmarthost: connections go first come first served, and one
// message at a time; a small post waits for the transactions before it, not for a batch.
func TestSmallPostAtASaturatedSmarthost(t *testing.T) {
	saturated(t, func(t *testing.T, w *World) {
		must(t, w.Post(t.Context(), "a", Pipe, bee, 1))
		time.Sleep(5 * time.Second)
		if n := took(w, bee); n != 2 {
			t.Errorf("%d copies of the small post after five seconds, want 2", n)
		}
	})
}

// TestNoticesBeforeBulk: a post is held while bulk is under way: its author hears of it at
// once.
func TestNoticesBeforeBulk(t *testing.T) {
	saturated(t, func(t *testing.T, w *World) {
		must(t, w.Post(t.Context(), "a", Pipe, cow, 1))
		time.Sleep(5 * time.Second)
		for _, m := range w.Sink.Messages() {
			for _, r := range m.Recipients {
				if r == "poster@example.net" && strings.Contains(string(m.Raw), "post <1.cow@world>") {
					return
				}
			}
		}
		t.Error("the author of a held post has no notice after five seconds")
	})
}
