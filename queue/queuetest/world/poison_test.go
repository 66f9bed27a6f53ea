package world_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// badly does to posts whose text has a word what the word says.
type badly struct{ queue.Processor }

func (b badly) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	switch has := func(word string) bool { return bytes.Contains(w.Entry.Raw, []byte(word)) }; {
	case has("PANIC"):
		panic("poison")
	case has("HANG"):
		<-ctx.Done()
		return nil, ctx.Err()
	case has("FAIL"):
		return nil, errors.New("cannot do this")
	case has("DNS"):
		return nil, fmt.Errorf("look up key: %w", queue.ErrTrouble)
	}
	return b.Processor.Process(ctx, w)
}

func poisoned(_ string, table map[queue.Name]queue.Processor) {
	table[queue.In] = badly{table[queue.In]}
}

func raw(id, subject, body string) []byte {
	return []byte("From: poster@example.net\r\nTo: ant@lists.example.com\r\nSubject: " + subject + "\r\nMessage-ID: " + id + "\r\n\r\n" + body + "\r\n")
}

// TestPoisonIsParkedAndNothingElse: posts that panic, hang and fail go to shunt with their
// cause, and neither their list nor another one waits longer than it must.
func TestPoisonIsParkedAndNothingElse(t *testing.T) {
	c := Config{Lists: []lists.ID{ant, bee}, Stages: poisoned, Stage: time.Minute}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start())
		for i, word := range []string{"PANIC", "HANG", "FAIL"} {
			id := fmt.Sprintf("<%s@world>", word)
			must(t, w.PostText(ctx, "a", Pipe, ant, id, raw(id, word, "poison")))
			must(t, w.Post(ctx, "b", LMTP, ant, i))
			must(t, w.Post(ctx, "b", LMTP, bee, i))
		}
		time.Sleep(10 * time.Second)
		if n := took(w, bee); n != 15 {
			t.Errorf("%d copies of the other list's posts after 10 s, want 15", n)
		}
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
		if n := took(w, ant); n != 15 {
			t.Errorf("%d copies of the list's good posts, want 15", n)
		}
		causes := w.Causes(ctx)
		if len(causes) != 3 {
			t.Errorf("parked: %q", causes)
		}
		for _, want := range []string{"panic: poison", "took too long", "cannot do this"} {
			if !strings.Contains(strings.Join(causes, "|"), want) {
				t.Errorf("nothing is parked because %q: %q", want, causes)
			}
		}
	})
}

// took counts the copies of a list's posts.
func took(w *World, l lists.ID) (n int) {
	for c, k := range w.Sink.Copies() {
		if strings.Contains(c.MessageID, l.Local()+"@world") {
			n += k
		}
	}
	return n
}

// reached counts the recipients of a list's posts, repeats apart.
func reached(w *World, l lists.ID) (n int) {
	for c := range w.Sink.Copies() {
		if strings.Contains(c.MessageID, l.Local()+"@world") {
			n++
		}
	}
	return n
}

// TestPoisonThatKillsHosts: a post takes every host down that touches it. After three
// durable marks it is parked, and what came after it goes out.
func TestPoisonThatKillsHosts(t *testing.T) {
	var w *World
	deaths := 0
	c := Config{Hosts: []string{"a", "b", "c"}, Lists: []lists.ID{ant, bee}, Poll: 3 * time.Second}
	c.Stages = func(host string, table map[queue.Name]queue.Processor) {
		table[queue.In] = killer{table[queue.In], func() { deaths++; w.Crash(host) }}
	}
	inWorld(t, c, func(t *testing.T, world *World) {
		w = world
		ctx := t.Context()
		must(t, w.PostText(ctx, "a", Pipe, ant, "<killer@world>", raw("<killer@world>", "KILL", "x")))
		for n := range 3 {
			must(t, w.Post(ctx, "a", Pipe, ant, n))
			must(t, w.Post(ctx, "a", Pipe, bee, n))
		}
		for range 60 {
			must(t, w.Start())
			time.Sleep(time.Minute)
		}
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
		if causes := w.Causes(ctx); len(causes) != 1 || deaths < 3 || deaths > 5 {
			t.Errorf("%d deaths, parked %q", deaths, causes)
		}
		// A host that dies may repeat a transaction, and then the log names it (Settle
		// looks): what counts is that everybody is reached.
		if reached(w, ant) != 15 || reached(w, bee) != 15 {
			t.Errorf("%d and %d copies, want 15 each", reached(w, ant), reached(w, bee))
		}
	})
}

type killer struct {
	queue.Processor
	kill func()
}

func (k killer) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	if bytes.Contains(w.Entry.Raw, []byte("KILL")) {
		k.kill()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return k.Processor.Process(ctx, w)
}

// TestTroubleIsNoPoison: DNS is down for half an hour. The entry waits, others go on, and
// nothing is parked.
func TestTroubleIsNoPoison(t *testing.T) {
	var dns bool
	c := Config{Lists: []lists.ID{ant, bee}}
	c.Stages = func(_ string, table map[queue.Name]queue.Processor) {
		good := table[queue.In]
		table[queue.In] = choice{func() queue.Processor {
			if dns {
				return good
			}
			return badly{good}
		}}
	}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start())
		must(t, w.PostText(ctx, "a", Pipe, ant, "<1.ant@world>", raw("<1.ant@world>", "DNS", "x")))
		time.Sleep(30 * time.Minute)
		must(t, w.Post(ctx, "a", Pipe, bee, 1))
		time.Sleep(10 * time.Second)
		if took(w, bee) != 5 || len(w.Shunted()) != 0 {
			t.Errorf("%d copies of the other list, parked %v", took(w, bee), w.Shunted())
		}
		if n := len(w.Log.Lines("list is left for now")); n > 2 {
			t.Errorf("%d lines for one episode", n)
		}
		dns = true
		w.Drain(ctx, 10*time.Minute)
		w.Settle(ctx)
		if took(w, ant) != 5 {
			t.Errorf("%d copies after all", took(w, ant))
		}
	})
}

type choice struct{ pick func() queue.Processor }

func (c choice) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	return c.pick().Process(ctx, w)
}

// TestHugeAndDeep: a message that is all nesting, and one that is all size, cost what
// they cost and no more.
func TestHugeAndDeep(t *testing.T) {
	inWorld(t, Config{Lists: []lists.ID{ant, bee}, Settings: map[string]string{"footer": "see you", "max_message_size": "0"}}, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start())
		var deep strings.Builder
		for i := range 20000 {
			fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
		}
		must(t, w.PostText(ctx, "a", Pipe, ant, "<1.ant@world>",
			[]byte("From: poster@example.net\r\nTo: ant@lists.example.com\r\nSubject: deep\r\nMessage-ID: <1.ant@world>\r\nMIME-Version: 1.0\r\n"+deep.String())))
		must(t, w.PostText(ctx, "a", Pipe, ant, "<2.ant@world>", raw("<2.ant@world>", "huge", strings.Repeat(strings.Repeat("x", 70)+"\r\n", 50000))))
		must(t, w.Post(ctx, "a", Pipe, bee, 1))
		w.Drain(ctx, 10*time.Minute)
		w.Settle(ctx)
	})
}

// TestDamage: one bit of a list's log or newest snapshot is flipped. That list is refused,
// and said so, nothing of it is lost or parked; the other goes on at full speed; when
// the bit is right again, so is the list.
func TestDamage(t *testing.T) {
	for _, where := range []string{"log", "snapshot"} {
		c := Config{Lists: []lists.ID{ant, bee}, SnapshotEvery: 4}
		inWorld(t, c, func(t *testing.T, w *World) {
			ctx := t.Context()
			joins(10)(ctx, w)
			dir := w.ListDir(ant) + "/" + where
			list, err := w.Eye.ReadDir(dir)
			must(t, err)
			name := path.Join(dir, list[len(list)-1].Name)
			good, err := fsys.ReadFile(w.Eye, name, 1<<20)
			must(t, err)
			bad := bytes.Clone(good)
			bad[len(bad)/2] ^= 1
			w.Overwrite(name, bad)
			must(t, w.Start())
			must(t, w.Post(ctx, "a", Pipe, bee, 1))
			err = w.Post(ctx, "a", Pipe, ant, 1)
			time.Sleep(10 * time.Second)
			if took(w, bee) != 5 {
				t.Errorf("%s: %d copies of the other list's post", where, took(w, bee))
			}
			time.Sleep(10 * time.Minute)
			if where == "log" && took(w, ant) != 0 {
				t.Errorf("a list with a damaged log was worked on")
			}
			if len(w.Shunted()) > 0 {
				t.Errorf("%s: parked %v", where, w.Shunted())
			}
			if where == "log" && (len(w.Log.Lines("list is left for now")) == 0 || len(w.Log.Lines("")) > 50) {
				t.Errorf("%d lines in ten minutes", len(w.Log.Lines("")))
			}
			w.Overwrite(name, good)
			if err != nil {
				must(t, w.PostUntil(ctx, "a", Pipe, ant, 1))
			}
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
			if took(w, ant) != 15 {
				t.Errorf("%s: %d copies in the end, want 15", where, took(w, ant))
			}
		})
	}
}

// TestEveryPostIsSeenWithinAMinute: on v3 a listing can hide a name until its folder is
// changed again. Posts come two in a tick, from two hosts, to folders that both poll.
func TestEveryPostIsSeenWithinAMinute(t *testing.T) {
	c := Config{Hosts: []string{"a", "b", "c"}, Lists: []lists.ID{ant, bee}, Server: simfs.Config{Version: simfs.V3, MtimeGrain: 10 * time.Millisecond}}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start("a"))
		for n := range 40 {
			must(t, w.Post(ctx, "b", Pipe, ant, 2*n))
			must(t, w.Post(ctx, "c", Pipe, bee, 2*n+1))
			time.Sleep(time.Duration(n) * 97 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if left := w.Idle(); len(left) > 0 {
			t.Errorf("a minute later: %v", left)
		}
		w.Settle(ctx)
	})
}

// TestFair: one list has a post to very many, a hundred lists have a post to one or two.
// A small post leaves within two time slices, and a notice before the bulk.
func TestFair(t *testing.T) {
	const many = 10_000
	all := []lists.ID{"big@lists.example.com"}
	for i := range 100 {
		all = append(all, lists.ID(fmt.Sprintf("s%d@lists.example.com", i)))
	}
	sink := queuetest.SinkConfig{Keep: queuetest.KeepCopies, Script: queuetest.Rules(
		queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Wait: 250 * time.Millisecond}})}
	c := Config{Hosts: []string{"a"}, Lists: all, People: 2, Sink: sink, Batch: 1000, Copies: 25}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Crowd(ctx, all[0], many))
		must(t, w.Start())
		must(t, w.Post(ctx, "a", Pipe, all[0], 0))
		time.Sleep(2 * time.Second)
		if n := w.Sink.Stats().Recipients; n == 0 || n > many/2 {
			t.Fatalf("%d copies of the big post by now", n)
		}
		for i, l := range all[1:] {
			must(t, w.Post(ctx, "a", Pipe, l, i+1))
		}
		time.Sleep(20 * time.Second) // two slices
		small := 0
		for cp, n := range w.Sink.Copies() {
			if !strings.HasPrefix(cp.MessageID, "<0.") {
				small += n
			}
		}
		t.Logf("after two slices %d of 200 small copies, %d in all", small, w.Sink.Stats().Recipients)
		if small != 200 || w.Sink.Stats().Recipients == many+200 {
			t.Errorf("%d of 200 small copies after two slices, and the big post is done as well", small)
		}
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
	})
}
