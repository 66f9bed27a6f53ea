package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"qrunner/locking"
)

// contender is the environment of a child that BenchmarkProcesses or .ci/bench/locks
// starts: the share, the gate's folder ("-" for no gate), the host's name, when to begin
// and to stop, in Unix milliseconds, for how many microseconds to hold the lock, in how
// many goroutines, and whether with a fence (1) or without (0).
const contender = "LOCKFILE_CONTENDER"

// TestMain runs such a child, or the tests.
func TestMain(m *testing.M) {
	if args := os.Getenv(contender); args != "" {
		if err := contend(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// contend holds the lock for a moment, again and again, in each of its goroutines.
func contend(args string) error {
	var share, gate, host string
	var begin, end, hold int64
	var goroutines, fence int
	if _, err := fmt.Sscan(args, &share, &gate, &host, &begin, &end, &hold, &goroutines, &fence); err != nil {
		return err
	}
	if gate == "-" {
		gate = ""
	}
	l, err := openReal(share, gate, host)
	if err != nil {
		return err
	}
	var opts []locking.Option
	if fence != 0 {
		f, err := newDiskLog(l.cfg.FS, fmt.Sprint(host, ".", os.Getpid()))
		if err != nil {
			return err
		}
		opts = append(opts, locking.WithFencer(f))
	}
	time.Sleep(time.Until(time.UnixMilli(begin)))
	ctx, stop := context.WithDeadline(context.Background(), time.UnixMilli(end))
	defer stop()
	errs := make(chan error)
	for range goroutines {
		go func() { errs <- again(ctx, l, time.Duration(hold)*time.Microsecond, opts) }()
	}
	for range goroutines {
		err = errors.Join(err, <-errs)
	}
	return err
}

func again(ctx context.Context, l *Locker, hold time.Duration, opts []locking.Option) error {
	var n int
	var longest time.Duration
	for ctx.Err() == nil {
		start := time.Now()
		le, err := l.Lock(ctx, listKey, locking.Exclusive, opts...)
		longest = max(longest, time.Since(start))
		if err != nil {
			break
		}
		if hold > 0 {
			time.Sleep(hold)
		}
		if err := le.Unlock(context.Background()); err != nil {
			return err
		}
		n++
	}
	fmt.Println("contender", n, longest.Milliseconds())
	return nil
}

// BenchmarkProcesses is several processes of one machine that hold one lock for 1 ms
// each in turn: Jain's index of their grants, 1 being even, and the longest wait.
func BenchmarkProcesses(b *testing.B) {
	for _, n := range []int{2, 8, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				crowd(b, n, 4*time.Second)
			}
		})
	}
}

func crowd(b *testing.B, procs int, d time.Duration) {
	share, gate := b.TempDir(), b.TempDir()
	begin := time.Now().Add(time.Second)
	cmds := make([]*exec.Cmd, procs)
	out := make([]strings.Builder, procs)
	for i := range cmds {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s bench %d %d 1000 1 0", contender, share, gate,
			begin.UnixMilli(), begin.Add(d).UnixMilli()))
		c.Stdout, c.Stderr = &out[i], os.Stderr
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		cmds[i] = c
	}
	var sum, squares, longest float64
	for i, c := range cmds {
		var n, ms float64
		if err := c.Wait(); err != nil {
			b.Fatalf("%v: %s", err, out[i].String())
		}
		if _, err := fmt.Sscanf(out[i].String(), "contender %g %g", &n, &ms); err != nil {
			b.Fatalf("%v: %s", err, out[i].String())
		}
		sum, squares, longest = sum+n, squares+n*n, max(longest, ms)
	}
	b.ReportMetric(sum*sum/(float64(procs)*squares), "jain")
	b.ReportMetric(longest, "ms-longest-wait")
	b.ReportMetric(sum/d.Seconds(), "grants/s")
}
