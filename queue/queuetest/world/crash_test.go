package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// deed is something that a host does, and in the middle of which it dies.
type deed struct {
	name    string
	step    int // of the calls that an ordinary run tries
	config  Config
	daemon  bool // qrunner runs on host a
	prepare func(ctx context.Context, w *World) error
	do      func(ctx context.Context, w *World) // on host a; errors are not the point
}

// late defers some recipients at the first try, and refuses one for good.
func late() func(queuetest.Step) queuetest.Action {
	return queuetest.Rules(
		queuetest.Rule{Phase: queue.PhaseRcpt, Arg: string(Person(ant, 3)), Times: 1, Action: queuetest.Action{Reply: "451 4.2.1 later"}},
		queuetest.Rule{Phase: queue.PhaseRcpt, Arg: string(Person(ant, 14)), Times: 1, Action: queuetest.Action{Reply: "451 4.2.1 later"}},
		queuetest.Rule{Phase: queue.PhaseRcpt, Arg: string(Person(ant, 7)), Action: queuetest.Action{Reply: "550 5.1.1 no such user"}},
	)
}

// shunts parks the first try of every entry.
func shunts(host string, table map[queue.Name]queue.Processor) {
	if host == "a" {
		table[queue.In] = parked{}
	}
}

type parked struct{}

func (parked) Process(context.Context, *queue.Work) (*queue.Outcome, error) {
	return &queue.Outcome{Fate: queue.FateShunt, Reason: "not on this host", Event: "shunted"}, nil
}

func joins(n int) func(ctx context.Context, w *World) {
	return func(ctx context.Context, w *World) {
		for i := range n {
			_ = w.Join(ctx, "a", ant, mailaddr.Address(fmt.Sprintf("new%d@people.example.org", i)))
		}
	}
}

func deeds() []deed {
	return []deed{
		{step: 211, name: "post, fan-out of three batches with deferrals, retry, finish", daemon: true,
			config: Config{People: 25, Sink: queuetest.SinkConfig{Script: late()}},
			do:     func(ctx context.Context, w *World) { _ = w.Post(ctx, "a", LMTP, ant, 1) }},
		{step: 211, name: "VERP fan-out with a bounce", daemon: true,
			config: Config{People: 9, Settings: map[string]string{"verp_delivery_interval": "1"}, Sink: queuetest.SinkConfig{Script: late()}},
			do:     func(ctx context.Context, w *World) { _ = w.Post(ctx, "a", Pipe, ant, 1) }},
		{step: 7, name: "intake by pipe", do: func(ctx context.Context, w *World) { _ = w.Post(ctx, "a", Pipe, ant, 1) }},
		{step: 29, name: "subscribe", do: joins(2)},
		{step: 601, name: "compaction", do: joins(14), config: Config{SnapshotEvery: 4}},
		{step: 401, name: "lock break", daemon: true,
			prepare: func(ctx context.Context, w *World) error {
				_, err := w.Hold(ctx, "b", ant)
				w.Crash("b")
				return err
			},
			do: func(ctx context.Context, w *World) { _ = w.Post(ctx, "a", Pipe, ant, 1) }},
		{step: 53, name: "list delete and make again",
			do: func(ctx context.Context, w *World) {
				_ = w.Delete(ctx, "a", bee)
				_ = w.Create(ctx, "a", bee)
			},
			config: Config{Lists: []lists.ID{ant, bee}}},
		{step: 101, name: "shunt and replay", daemon: true, config: Config{Stages: shunts},
			do: func(ctx context.Context, w *World) {
				_ = w.Post(ctx, "a", Pipe, ant, 1)
				time.Sleep(5 * time.Second)
				_ = w.Stop("a")
				_, _ = w.Replay(ctx, "a", ant)
			}},
		{step: 301, name: "hold and let pass", daemon: true, config: Config{Settings: map[string]string{"default_nonmember_action": "hold"}},
			do: func(ctx context.Context, w *World) {
				_ = w.Post(ctx, "a", Pipe, ant, 1)
				time.Sleep(5 * time.Second)
				_, _ = w.Accept(ctx, "a", ant)
			}},
		{step: 401, name: "digest", daemon: true, config: Config{Readers: 3, Settings: map[string]string{"digest_size_threshold": "1"}},
			do: func(ctx context.Context, w *World) {
				for n := range 2 {
					_ = w.Post(ctx, "a", Pipe, ant, n)
				}
				time.Sleep(5 * time.Second)
				_ = w.SendDigest(ctx, "a", ant)
			}},
		{step: 701, name: "collecting while a holder sleeps", config: Config{SnapshotEvery: 4},
			prepare: func(ctx context.Context, w *World) error {
				h, err := w.Hold(ctx, "b", ant)
				if err != nil {
					return err
				}
				w.FS("b").Pause()
				go func() {
					select {
					case <-time.After(20 * time.Minute):
					case <-ctx.Done():
						return
					}
					w.FS("b").Resume()
					if err := h.Commit(ctx, store.By{Actor: "sleeper"}, store.SetPostID{N: 1000}); err == nil {
						w.Break("a sleeper committed after its time")
					}
				}()
				return nil
			},
			do: joins(14)},
	}
}

// mode is a way to die.
type mode struct {
	name  string
	async bool // the server loses its power too, and what was not synced
	same  bool // the host comes back, or else another one takes over
	after bool // the host dies after a call, or else before it
}

// stride is how far apart the calls are that are tried.
func (d deed) stride(t *testing.T) int {
	t.Helper()
	text := os.Getenv("WORLD_STRIDE")
	if text == "" {
		return d.step
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// TestCrashAtEveryStep: host a dies before and after each of its calls; the same host or
// another goes on. Run by run only some of the calls are tried (those with a number
// that leaves a rest, by deed and mode); WORLD_STRIDE=1 tries all.
func TestCrashAtEveryStep(t *testing.T) {
	tried := 0
	for i, d := range deeds() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			points, step := 0, d.stride(t)
			for k, m := range []mode{
				{"before, other host", false, false, false}, {"after, same host", false, true, true},
				{"before, power cut, same host", true, true, false}, {"after, power cut, other host", true, false, true},
			} {
				for n := 1 + (5*i+17*k)%min(step, 11); crashAt(t, d, m, n); n += step {
					points++
					if t.Failed() {
						t.Fatalf("%s, %s: call %d", d.name, m.name, n)
					}
				}
			}
			t.Logf("%d crash points", points)
			tried += points
		})
	}
	t.Logf("%d crash points in all", tried)
}

// crashAt lets host a die at its nth call. It reports whether that came to pass.
func crashAt(t *testing.T, d deed, m mode, n int) (died bool) {
	c := d.config
	c.Seed = uint64(n)
	c.Server.AsyncExport, c.Poll = m.async, 3*time.Second
	if n%2 == 0 {
		c.Server.Version = simfs.V3
	}
	inWorld(t, c, func(t *testing.T, w *World) {
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Hour)
		defer cancel()
		a := w.FS("a")
		if d.prepare != nil {
			must(t, d.prepare(ctx, w))
		}
		kind := simfs.CrashBefore
		if m.after {
			kind = simfs.CrashAfter
		}
		w.Server.Inject(simfs.Fault{Host: "a", Nth: n, Kind: kind})
		if d.daemon {
			must(t, w.Start("a"))
		}
		dctx, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); d.do(dctx, w) }()
		died = wait(a, w, done)
		stop()
		<-done
		if died {
			w.Crash("a")
		} else {
			must(t, w.Stop())
		}
		w.Server.Heal()
		if m.async && died {
			w.Crash("b")
			w.Server.PowerCut()
		}
		aftermath(t, ctx, w, d, m)
	})
	return died
}

// wait returns when host a is dead, or has done its deed; it says which.
func wait(a *simfs.Host, w *World, done <-chan struct{}) bool {
	for range 360 {
		time.Sleep(5 * time.Second)
		select {
		case <-a.Context().Done():
			return true
		case <-done:
			if len(w.Idle()) == 0 {
				time.Sleep(5 * time.Second)
				return a.Context().Err() != nil
			}
		default:
		}
	}
	return a.Context().Err() != nil
}

// aftermath goes on where host a left off, and checks the invariants.
func aftermath(t *testing.T, ctx context.Context, w *World, d deed, m mode) {
	host := "b"
	if m.same {
		host = "a"
	}
	if d.name == "shunt and replay" {
		host = "b" // a would park it again
		for {
			if _, err := w.Replay(ctx, host, ant); err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
	}
	if strings.HasPrefix(d.name, "list delete") {
		if err := w.Create(ctx, host, bee); err != nil && !errors.Is(err, store.ErrExists) {
			t.Fatal(err)
		}
	}
	must(t, w.Start(host))
	w.Again(ctx, host)
	for i, l := range []lists.ID{ant} {
		must(t, w.PostUntil(ctx, host, Pipe, l, 500+i))
	}
	if !w.Drain(ctx, 3*time.Hour) {
		return
	}
	if d.config.Readers > 0 || d.name == "hold and let pass" {
		w.Empty(ctx, host)
		if !w.Drain(ctx, 3*time.Hour) {
			return
		}
	}
	must(t, w.Stop())
	time.Sleep(30 * time.Minute) // a sleeper wakes
	w.Settle(ctx)
	w.Leavings(t.Context())
}
