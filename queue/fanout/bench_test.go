package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
	"qrunner/queue/spool"
)

// benchShare is a real folder with posts to n members each.
func benchShare(b *testing.B, posts, n int, verp bool) *fsys.Root {
	f, err := fsys.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	fo := &queue.Fanout{List: ant, Bulk: true, Bounces: ant.Bounces(), VERP: verp, Raw: make([]byte, 0, 4096)}
	fo.Trace, fo.Source = "t", "internal"
	fo.Received = time.Now()
	fo.Raw = append(fo.Raw, "Subject: bench\r\nMessage-ID: <bench@x>\r\n\r\n"...)
	for len(fo.Raw) < 4000 {
		fo.Raw = append(fo.Raw, "the quick brown fox jumps over the lazy dog\r\n"...)
	}
	for i := range n {
		fo.Recipients = append(fo.Recipients, lists.Recipient{Kind: lists.KindMember, Member: lists.MemberID(i + 1),
			Address: mailaddr.Address(fmt.Sprintf("member%d@example.org", i))})
	}
	dir := "queue/out/" + string(ant)
	for _, d := range []string{dir, "queue/tmp", "queue/retry"} {
		if err := fsys.MkdirAll(f, d); err != nil {
			b.Fatal(err)
		}
	}
	for i := range posts {
		id := queue.NewID(time.Now(), uint64(i), "bench", uint64(i))
		if err := spool.WriteFanout(b.Context(), f, dir+"/"+string(id), fo); err != nil {
			b.Fatal(err)
		}
	}
	return f
}

// localLocker grants every key once at a time, in memory.
type localLocker struct{ *memLocks }

func (l localLocker) Lock(context.Context, locking.Key, locking.Mode, ...locking.Option) (locking.Lease, error) {
	return nil, locking.ErrModeUnsupported
}

func (l localLocker) TryLock(_ context.Context, key locking.Key, _ locking.Mode, _ ...locking.Option) (locking.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] != nil {
		return nil, &locking.HeldError{Key: key}
	}
	m := &benchLease{memLease{locks: l.memLocks, key: key}}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	l.held[key] = &m.memLease
	return m, nil
}

type benchLease struct{ memLease }

func (m *benchLease) Verify(context.Context) error { return nil }
func (m *benchLease) Unlock(context.Context) error {
	m.locks.mu.Lock()
	defer m.locks.mu.Unlock()
	delete(m.locks.held, m.key)
	m.cancel(locking.ErrReleased)
	return nil
}

// instant takes all mail at once.
type instant struct{}

func (instant) MaxRecipients() int                          { return 100 }
func (instant) Acquire(context.Context) (queue.Conn, error) { return instant{}, nil }
func (instant) Broken() bool                                { return false }
func (instant) Release()                                    {}
func (instant) Send(_ context.Context, t *queue.Transaction) []queue.Reply {
	out := make([]queue.Reply, len(t.Recipients))
	for i := range out {
		out[i] = queue.Reply{Code: 250, Text: "ok", Phase: queue.PhaseDot}
	}
	return out
}

// benchRun sends posts and reports recipients per second.
func benchRun(b *testing.B, tr queue.Transport, lock func(fsys.FS) locking.Locker, posts, members int, verp bool) {
	for range b.N {
		b.StopTimer()
		f := benchShare(b, posts, members, verp)
		s := New(Config{FS: f, Locker: lock(f), Transport: tr, Host: "bench", Clock: time.Now,
			Log: slog.New(slog.DiscardHandler), Roster: func(context.Context, lists.ID) (lists.Roster, error) { return memRoster{}, nil }})
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		b.StartTimer()
		began := time.Now()
		go func() { defer close(done); _ = s.Run(ctx) }()
		for {
			list, err := f.ReadDir("queue/out/" + string(ant))
			if err != nil || len(list) == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		b.ReportMetric(float64(posts*members)/time.Since(began).Seconds(), "rcpt/s")
		cancel()
		<-done
	}
}

func inMemory(fsys.FS) locking.Locker {
	return localLocker{&memLocks{held: map[locking.Key]*memLease{}}}
}

// lockFiles is the real thing, on the same folder.
func lockFiles(f fsys.FS) locking.Locker {
	l, err := lockfile.New(lockfile.Config{FS: f, Host: hosts.Identity{Host: "bench", Boot: "b", PID: 1, PIDNS: "1", StartTicks: 1}, Lifetime: 300 * time.Second})
	if err != nil {
		panic(err)
	}
	return l
}

func BenchmarkInstantBulk1x20000(b *testing.B) { benchRun(b, instant{}, inMemory, 1, 20000, false) }
func BenchmarkInstantBulk50x1000(b *testing.B) { benchRun(b, instant{}, inMemory, 50, 1000, false) }
func BenchmarkInstantBulk200x10(b *testing.B)  { benchRun(b, instant{}, inMemory, 200, 10, false) }
func BenchmarkInstantVERP1x10000(b *testing.B) { benchRun(b, instant{}, inMemory, 1, 10000, true) }

// sinkPool is the real client in front of a sink that keeps nothing: our own, or the
// one whose address FANOUT_BENCH_SINK gives (for a comparison with smtp-source).
func sinkPool(b *testing.B) queue.Transport {
	if addr := os.Getenv("FANOUT_BENCH_SINK"); addr != "" {
		return pool(b, addr)
	}
	sink, err := queuetest.NewSink(queuetest.SinkConfig{Keep: queuetest.KeepCounts})
	if err != nil {
		b.Fatal(err)
	}
	addr, err := sink.Listen(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sink.Close() })
	return pool(b, addr)
}

func pool(b *testing.B, addr string) queue.Transport {
	p, err := smtpout.New(smtpout.Config{Host: addr, TLS: smtpout.TLSNone, MaxRecipients: 100, MaxConns: 16})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

func BenchmarkSMTPBulk1x20000(b *testing.B) { benchRun(b, sinkPool(b), lockFiles, 1, 20000, false) }
func BenchmarkSMTPBulk50x1000(b *testing.B) { benchRun(b, sinkPool(b), lockFiles, 50, 1000, false) }
func BenchmarkSMTPVERP1x10000(b *testing.B) { benchRun(b, sinkPool(b), lockFiles, 1, 10000, true) }
