package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/site"
	"qrunner/queue"
	"qrunner/queue/spool"
)

const ant, bee lists.ID = "ant@lists.example.com", "bee@lists.example.com"

// stageFunc is a stage made of a function.
type stageFunc func(context.Context, *queue.Work) (*queue.Outcome, error)

func (f stageFunc) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	return f(ctx, w)
}

// host is one host's runner on a share.
type host struct {
	*Runner
	spool *spool.Spool
	store *store.Store
	fs    fsys.FS
	log   *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newHost(t testing.TB, f fsys.FS, name string, in stageFunc) *host {
	t.Helper()
	if _, err := site.Init(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	log := &safeBuffer{}
	lg := slog.New(slog.NewTextHandler(log, nil))
	locker, err := lockfile.New(lockfile.Config{
		FS: f, Host: hosts.Identity{Host: name, Boot: name, PID: 7}, Lifetime: 90 * time.Second, Mono: clock.Since(time.Now()), Log: lg,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{fs: f, log: log}
	h.spool = spool.New(spool.Config{FS: f, Host: name, Clock: time.Now, Log: lg})
	h.store = store.Open(store.Config{FS: f, Locker: locker, Host: name, Clock: time.Now, Log: lg})
	for _, id := range []lists.ID{lists.Site, ant} {
		if err := h.store.Create(t.Context(), id, store.By{Actor: "test"}); err != nil && !errors.Is(err, store.ErrExists) {
			t.Fatal(err)
		}
	}
	h.Runner = New(Config{
		Store: h.store, Spool: h.spool, Stages: map[queue.Name]queue.Processor{queue.In: in}, Host: name, Clock: time.Now, Log: lg,
	})
	return h
}

func share(t testing.TB) fsys.FS {
	t.Helper()
	f, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func (h *host) put(t *testing.T, id lists.ID, text string) queue.ID {
	t.Helper()
	e := &queue.Entry{Queue: queue.In, List: id, Raw: []byte("Message-ID: <" + text + ">\r\n\r\n" + text + "\r\n")}
	e.Target.List = id
	got, err := h.spool.Put(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (h *host) count(t *testing.T, q queue.Name, id lists.ID) int {
	t.Helper()
	ids, err := h.spool.IDs(t.Context(), q, id)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

// runFor lets the runner work for a while of the bubble's time.
func (h *host) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := h.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func done(context.Context, *queue.Work) (*queue.Outcome, error) {
	return &queue.Outcome{Event: "done"}, nil
}

func TestEntriesAreWorkedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		h := newHost(t, share(t), "a", func(_ context.Context, w *queue.Work) (*queue.Outcome, error) {
			got = append(got, strings.TrimSpace(string(w.Entry.Raw[bytes.Index(w.Entry.Raw, []byte("\r\n\r\n")):])))
			return &queue.Outcome{Event: "done"}, nil
		})
		var want []string
		for i := range 200 { // more than one commit takes
			want = append(want, fmt.Sprint(i))
			h.put(t, ant, fmt.Sprint(i))
		}
		h.runFor(t, 5*time.Second)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("worked in order %v", got)
		}
		if n := h.count(t, queue.In, ant); n != 0 {
			t.Errorf("%d entries left", n)
		}
		if folders, _ := h.fs.ReadDir("queue/in"); len(folders) != 0 {
			t.Errorf("idle list still has a folder: %v", folders)
		}
	})
}

func TestPanicParksTheEntryAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			if bytes.Contains(w.Entry.Raw, []byte("poison")) {
				panic("bad message")
			}
			return done(ctx, w)
		})
		h.put(t, ant, "one")
		h.put(t, ant, "poison")
		h.put(t, ant, "two")
		h.runFor(t, 5*time.Second)
		ids, err := h.spool.IDs(t.Context(), queue.Shunt, ant)
		if err != nil || len(ids) != 1 || h.count(t, queue.In, ant) != 0 {
			t.Fatalf("shunt %v, %v; in %d", ids, err, h.count(t, queue.In, ant))
		}
		e, err := h.spool.Load(t.Context(), queue.Shunt, ant, ids[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.Meta.Cause, "panic: bad message") || !strings.Contains(e.Meta.Cause, "goroutine") || e.Meta.From != queue.In {
			t.Errorf("cause %q from %s", e.Meta.Cause, e.Meta.From)
		}
	})
}

func TestStageErrorIsTriedThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		h := newHost(t, share(t), "a", func(context.Context, *queue.Work) (*queue.Outcome, error) {
			tries++
			return nil, errors.New("no idea")
		})
		h.put(t, ant, "x")
		h.runFor(t, time.Minute)
		if tries != maxMarks || h.count(t, queue.Shunt, ant) != 1 {
			t.Errorf("%d tries, %d in shunt", tries, h.count(t, queue.Shunt, ant))
		}
	})
}

func TestTroubleCountsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		end := time.Now().Add(10 * time.Minute)
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			tries++
			if time.Now().Before(end) {
				return nil, fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return done(ctx, w)
		})
		h.put(t, ant, "x")
		h.runFor(t, 15*time.Minute)
		if h.count(t, queue.Shunt, ant) != 0 || h.count(t, queue.In, ant) != 0 {
			t.Errorf("shunt %d, in %d after trouble of ten minutes", h.count(t, queue.Shunt, ant), h.count(t, queue.In, ant))
		}
		if tries > 30 {
			t.Errorf("%d tries in ten minutes: a tight loop", tries)
		}
		if n := strings.Count(h.log.String(), "list is left for now"); n != 1 {
			t.Errorf("%d log lines for one episode", n)
		}
	})
}

func TestHangingStageIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			if bytes.Contains(w.Entry.Raw, []byte("slow")) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return done(ctx, w)
		})
		h.put(t, ant, "slow")
		h.put(t, ant, "fast")
		h.runFor(t, time.Hour)
		if h.count(t, queue.Shunt, ant) != 1 || h.count(t, queue.In, ant) != 0 {
			t.Errorf("shunt %d, in %d", h.count(t, queue.Shunt, ant), h.count(t, queue.In, ant))
		}
	})
}

// TestUncleanEndIsCareful: the entry that kills its process three times is parked by
// the fourth; the count is on the share, not in memory.
func TestUncleanEndIsCareful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := share(t)
		h := newHost(t, f, "a", done)
		id := h.put(t, ant, "killer")
		l, err := h.store.Lock(t.Context(), ant, "first grant")
		if err != nil {
			t.Fatal(err)
		}
		for n := range maxMarks {
			at := store.MarkAttempt{Entry: spool.Key(queue.In, ant, id), Count: n + 1, At: time.Now()}
			if err := l.Commit(t.Context(), store.By{Actor: "test"}, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.runFor(t, 5*time.Second)
		ids, err := h.spool.IDs(t.Context(), queue.Shunt, ant)
		if err != nil || len(ids) != 1 {
			t.Fatalf("shunt %v, %v", ids, err)
		}
		if e, err := h.spool.Load(t.Context(), queue.Shunt, ant, ids[0]); err != nil || e.Meta.Count != maxMarks {
			t.Errorf("count %d, %v", e.Meta.Count, err)
		}
	})
}

func TestMailOfAnUnknownListIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, share(t), "a", done)
		h.put(t, bee, "x")
		h.put(t, ant, "y")
		h.runFor(t, 5*time.Second)
		if h.count(t, queue.Shunt, bee) != 1 || h.count(t, queue.In, ant) != 0 || h.count(t, queue.In, bee) != 0 {
			t.Errorf("shunt %d, in %d and %d", h.count(t, queue.Shunt, bee), h.count(t, queue.In, ant), h.count(t, queue.In, bee))
		}
	})
}

func TestEntryOfAnotherHostIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := share(t)
		a, b := newHost(t, f, "a", done), newHost(t, f, "b", done)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- b.Run(ctx) }()
		a.put(t, ant, "x") // nobody wakes b
		time.Sleep(5 * time.Second)
		stop()
		if err := <-ended; err != nil || a.count(t, queue.In, ant) != 0 {
			t.Errorf("left %d, %v", a.count(t, queue.In, ant), err)
		}
	})
}

// TestDrainFinishesTheEntryInHand: what the stage has begun is committed after SIGTERM.
func TestDrainFinishesTheEntryInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 3)
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			begun <- struct{}{}
			select {
			case <-time.After(3 * time.Second):
				return done(ctx, w)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
		h.put(t, ant, "x")
		h.put(t, ant, "y")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		<-begun
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if n := h.count(t, queue.In, ant); n != 1 {
			t.Errorf("%d entries left: the one in hand should be done, the other not begun", n)
		}
	})
}

// TestEntryThatCannotBeReadKeepsNobodyUp: it stays where it is, the others go on, and
// nothing turns in a tight loop.
func TestEntryThatCannotBeReadKeepsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad queue.ID
		loads := 0
		f := fsys.Observed(share(t), fsys.Hook{Before: func(op, name string) error {
			if op == "open" && bad != "" && strings.HasSuffix(name, string(bad)) {
				loads++
				return syscall.EACCES
			}
			return nil
		}})
		h := newHost(t, f, "a", done)
		bad = h.put(t, ant, "locked")
		h.put(t, ant, "open")
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		time.Sleep(5 * time.Minute)
		h.put(t, ant, "later")
		h.Wake(ant)
		time.Sleep(2 * time.Second)
		if n := h.count(t, queue.In, ant); n != 1 {
			t.Errorf("%d entries left, want the one that cannot be read", n)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if h.count(t, queue.Shunt, ant)+h.count(t, queue.Bad, ant) != 0 || loads > 30 {
			t.Errorf("shunt %d, bad %d, %d loads", h.count(t, queue.Shunt, ant), h.count(t, queue.Bad, ant), loads)
		}
		if n := strings.Count(h.log.String(), "list is left for now"); n != 1 {
			t.Errorf("%d log lines for one episode", n)
		}
	})
}

// TestListedAndNotThere: an NFS client can list a name and say for a minute that it is not
// there. What came later waits for it, without a tight loop; not for ever, in case it is
// damage.
func TestListedAndNotThere(t *testing.T) {
	for _, tc := range []struct {
		name string
		span time.Duration
		want string
		left int
	}{
		{"for a minute", time.Minute, "hidden later", 0},
		{"for ever", 24 * time.Hour, "later", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var hidden queue.ID
			opens := 0
			until := time.Now().Add(tc.span)
			f := fsys.Observed(share(t), fsys.Hook{Before: func(op, name string) error {
				if op == "open" && hidden != "" && strings.HasSuffix(name, string(hidden)) && time.Now().Before(until) {
					if opens++; opens > 10000 {
						panic("tight loop") // the bubble's clock would stand still for ever
					}
					return syscall.ENOENT
				}
				return nil
			}})
			var order []string
			h := newHost(t, f, "a", func(_ context.Context, w *queue.Work) (*queue.Outcome, error) {
				order = append(order, string(bytes.TrimSpace(w.Entry.Raw[bytes.Index(w.Entry.Raw, []byte("\r\n\r\n")):])))
				return &queue.Outcome{Event: "done"}, nil
			})
			hidden = h.put(t, ant, "hidden")
			time.Sleep(time.Second)
			h.put(t, ant, "later")
			h.runFor(t, 3*time.Minute)
			if got := strings.Join(order, " "); got != tc.want || h.count(t, queue.In, ant) != tc.left || opens > 500 {
				t.Errorf("%s: done %q, %d entries left, opened %d times", tc.name, got, h.count(t, queue.In, ant), opens)
			}
		})
	}
}

// TestOneEpisodeIsOneLine: ten minutes without a share are told once, not once a poll.
func TestOneEpisodeIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down bool
		f := fsys.Observed(share(t), fsys.Hook{Before: func(string, string) error {
			if down {
				return syscall.EIO
			}
			return nil
		}})
		h := newHost(t, f, "a", done)
		down = true
		h.runFor(t, 10*time.Minute)
		if n := strings.Count(h.log.String(), "walk queue"); n != 1 {
			t.Errorf("%d lines for one episode:\n%s", n, h.log)
		}
	})
}

// TestPoisonDoesNotHoldUpWhatCameBefore: the good entries of its batch are committed at
// once, not when the entry that hangs has been given up.
func TestPoisonDoesNotHoldUpWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64 // of the good one; nobody waits for a try that was given up
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			if bytes.Contains(w.Entry.Raw, []byte("hang")) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			tries.Add(1)
			return &queue.Outcome{Event: "done"}, nil
		})
		h.put(t, ant, "good")
		time.Sleep(time.Second)
		h.put(t, ant, "hang")
		h.runFor(t, 6*time.Minute) // the first try of the bad one takes five
		if n := h.count(t, queue.In, ant); n != 1 || tries.Load() != 1 {
			t.Errorf("%d entries left, the good one was tried %d times", n, tries.Load())
		}
	})
}
