package world_test

import (
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	. "qrunner/queue/queuetest/world"
)

// TestDigestBesideAPost: a digest is due and a post waits, for the same commit. The post is
// in this digest or in the next, and not left out because its file is only staged.
func TestDigestBesideAPost(t *testing.T) {
	c := Config{Readers: 2, Settings: map[string]string{"digest_size_threshold": "1"}}
	c.Stages = func(host string, table map[queue.Name]queue.Processor) {
		if host == "a" {
			delete(table, queue.Digest)
		}
	}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start("a"))
		for n := range 3 {
			must(t, w.Post(ctx, "a", Pipe, ant, n))
		}
		time.Sleep(time.Minute)
		must(t, w.Stop("a"))
		if left := w.Below("queue/digest", 1); len(left) == 0 {
			t.Fatal("no digest is due")
		}
		must(t, w.Post(ctx, "b", Pipe, ant, 3))
		must(t, w.Start("b"))
		w.Drain(ctx, time.Hour)
		w.Empty(ctx, "b")
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
	})
}

// TestHeldPostsArriveOnce: posts are held on two hosts, and let pass from a third one.
func TestHeldPostsArriveOnce(t *testing.T) {
	own := map[lists.ID]map[string]string{cow: {"default_nonmember_action": "hold"}}
	inWorld(t, Config{Hosts: []string{"a", "b", "c"}, Lists: []lists.ID{ant, cow}, Own: own}, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start())
		for n := range 6 {
			must(t, w.Post(ctx, []string{"a", "b"}[n%2], LMTP, cow, n))
		}
		time.Sleep(time.Minute)
		if n := took(w, cow); n != 0 {
			t.Errorf("%d copies of held posts", n)
		}
		n, err := w.Accept(ctx, "c", cow)
		must(t, err)
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
		if got := took(w, cow); n != 6 || got != 30 {
			t.Errorf("%d let pass, %d copies, want 6 and 30", n, got)
		}
	})
}
