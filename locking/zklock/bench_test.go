package zklock

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// BenchmarkLocks compares our lock, in turns, with the library's own and with kazoo's
// on the same server. "x-bare" is the time of a cycle over that of the bare calls: create,
// list, delete. A server that syncs its log to the disk is what there is in earnest; one that
// does not shows what the clients cost.
func BenchmarkLocks(b *testing.B) {
	for name, flag := range map[string]string{"synced": "-Dzookeeper.forceSync=yes", "unsynced": "-Dzookeeper.forceSync=no"} {
		b.Run(name, func(b *testing.B) {
			e := startEnsemble(b, 1, flag)
			b.Run("uncontended", func(b *testing.B) { benchUncontended(b, e) })
			for _, n := range []int{2, 8, 16, 64} {
				b.Run(fmt.Sprintf("contenders=%d", n), func(b *testing.B) { benchContended(b, e, n) })
			}
		})
	}
}

// plain is a connection of the library.
func plain(b *testing.B, e ensemble, root string) *zk.Conn {
	conn, events, err := zk.Connect(e.Addrs(), realTimeout, zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	go func() {
		for range events {
		}
	}()
	if _, err := conn.Create(root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
		b.Fatal(err)
	}
	return conn
}

func bare(b *testing.B, c *zk.Conn) {
	name, err := c.Create("/bare/x-", make([]byte, 32), zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err == nil {
		_, _, err = c.Children("/bare")
	}
	if err == nil {
		err = c.Delete(name, -1)
	}
	if err != nil {
		b.Error(err)
	}
}

func cycle(ctx context.Context, b *testing.B, l *Locker) {
	le, err := l.Lock(ctx, listKey, locking.Exclusive)
	if err == nil {
		err = le.Unlock(ctx)
	}
	if err != nil {
		b.Error(err)
	}
}

func libraryCycle(b *testing.B, c *zk.Conn) {
	l := zk.NewLock(c, "/library", zk.WorldACL(zk.PermAll))
	err := l.Lock()
	if err == nil {
		err = l.Unlock()
	}
	if err != nil {
		b.Error(err)
	}
}

// share runs n cycles on so many goroutines and says how long they took.
func share(contenders, n int, f func()) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for range contenders {
		wg.Go(func() {
			for range n / contenders {
				f()
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// kazoo is the time of one cycle, of one contender the median; zero without it.
func kazoo(b *testing.B, e ensemble, contenders, rounds int) time.Duration {
	out, err := exec.Command("/usr/bin/python3", "testdata/kazoo_bench.py", strings.Join(e.Addrs(), ","), "/kazoo",
		strconv.Itoa(contenders), strconv.Itoa(rounds)).Output()
	if err != nil {
		b.Logf("without kazoo: %v", err)
		return 0
	}
	s, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(s * float64(time.Second) / float64(rounds/contenders*contenders))
}

// benchUncontended goes by medians, since a busy machine disturbs some turns.
func benchUncontended(b *testing.B, e ensemble) {
	l, c, lib := open(b, e.config("/ours", 0)), plain(b, e, "/bare"), plain(b, e, "/library")
	cycle(context.Background(), b, l)
	libraryCycle(b, lib)
	const turn = 5
	turns := []struct {
		name string
		f    func()
	}{
		{"bare", func() { bare(b, c) }},
		{"ours", func() { cycle(context.Background(), b, l) }},
		{"library", func() { libraryCycle(b, lib) }},
	}
	took := map[string][]time.Duration{}
	for n := 0; b.Loop(); n++ {
		for i := range turns {
			t := turns[(n+i)%len(turns)]
			took[t.name] = append(took[t.name], share(1, turn, t.f)/turn)
		}
	}
	for name, all := range took {
		b.ReportMetric(1/median(all).Seconds(), name+"/s")
	}
	b.ReportMetric(float64(median(took["ours"]))/float64(median(took["bare"])), "x-bare")
	if k := kazoo(b, e, 1, 400); k > 0 {
		b.ReportMetric(1/k.Seconds(), "kazoo/s")
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func benchContended(b *testing.B, e ensemble, contenders int) {
	l, lib := open(b, e.config("/ours", 0)), plain(b, e, "/library")
	turn := 4 * contenders
	var ours, library time.Duration
	n := 0
	for b.Loop() {
		n += turn
		ours += share(contenders, turn, func() { cycle(context.Background(), b, l) })
		library += share(contenders, turn, func() { libraryCycle(b, lib) })
	}
	b.ReportMetric(float64(n)/ours.Seconds(), "ours/s")
	b.ReportMetric(float64(n)/library.Seconds(), "library/s")
	s := l.Stats()
	b.ReportMetric(float64(s.Wakes)/float64(s.Releases), "wakes/release")
	if k := kazoo(b, e, contenders, max(4*contenders, 200)); k > 0 {
		b.ReportMetric(1/k.Seconds(), "kazoo/s")
	}
}
