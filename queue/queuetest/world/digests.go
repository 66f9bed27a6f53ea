package world

import (
	"bytes"
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue/stage"
)

// reads reports whether an address is one of those that get digests.
func (w *World) reads(a string) bool {
	for _, l := range w.c.Lists {
		for i := range w.c.Readers {
			if string(Person(l, i)) == a {
				return true
			}
		}
	}
	return false
}

// inDigests is in how many digests somebody got a post, a digest that came again, as the
// log announced, counted once.
func (w *World) inDigests(msg, a string) int {
	text := []byte("This is post " + msg + ".")
	came := map[string]int{}
	for _, m := range w.Sink.Messages() {
		id := message.Parse(m.Raw).Get("Message-ID")
		for _, r := range m.Recipients {
			if r == a && bytes.Contains(m.Raw, text) {
				came[id]++
			}
		}
	}
	for id, n := range came {
		if allowed := w.repeats(id)[a]; n > 1+allowed {
			w.book.broken("%s got digest %s %d times, and the log names %d possible repeats", a, id, n, allowed)
		}
	}
	return len(came)
}

// Empty lets all held posts pass and sends what waits for digests, on one host, until
// nothing is left.
func (w *World) Empty(ctx context.Context, host string) {
	for _, l := range w.c.Lists {
		for {
			_, err := w.Accept(ctx, host, l)
			if err == nil || ctx.Err() != nil {
				break
			}
			sleep(ctx, leftPause)
		}
	}
	w.Drain(ctx, emptyTime)
	for _, l := range w.c.Lists {
		for {
			err := w.SendDigest(ctx, host, l)
			if err == nil || ctx.Err() != nil {
				break
			}
			sleep(ctx, leftPause)
		}
	}
}

// SendDigest is `digest send`.
func (w *World) SendDigest(ctx context.Context, host string, id lists.ID) error {
	return w.command(ctx, host, id, func(ctx context.Context, p *process, h *store.Holder) error {
		if err := p.spool.Recover(ctx, h); err != nil {
			return err
		}
		o, err := p.stages().SendDigest(ctx, h.State(), p.sim.Clock()(), "digest."+strings.ReplaceAll(string(id), "@", "."))
		if err != nil || len(o.Changes) == 0 {
			return err
		}
		a := p.spool.NewAttempt(h)
		if err := a.Add(ctx, nil, o); err != nil {
			return err
		}
		return a.Commit(ctx, admin("digest send"))
	})
}

// stages is what the stages of a process need.
func (p *process) stages() stage.Config {
	return stage.Config{Host: p.id.Host, SiteOwner: "site@example.net", FS: p.fs}
}
