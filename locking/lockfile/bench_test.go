package lockfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
)

// realLocker is a Locker of this process on a folder of this machine.
func realLocker(t testing.TB, dir, localDir string) *Locker {
	t.Helper()
	l, err := openReal(dir, localDir, "bench")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cfg.FS.(*fsys.Root).Close() })
	return l
}

func openReal(dir, localDir, host string) (*Locker, error) {
	share, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	id, err := hosts.Self(host)
	if err != nil {
		return nil, err
	}
	return New(Config{FS: share, Host: id, Lifetime: 90 * time.Second, LocalDir: localDir})
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

// BenchmarkUncontended is a grant and a release with nobody else there; with the
// gate of the machine too.
func BenchmarkUncontended(b *testing.B) {
	l := realLocker(b, b.TempDir(), "")
	for b.Loop() {
		cycle(b.Context(), b, l)
	}
}

func BenchmarkUncontendedLocalGate(b *testing.B) {
	l := realLocker(b, b.TempDir(), b.TempDir())
	for b.Loop() {
		cycle(b.Context(), b, l)
	}
}

// BenchmarkGoroutines is several goroutines of one process that want one lock, in turns
// with one alone, because a file system's own pace changes. "x-alone" is the median
// ratio of the times for a grant.
func BenchmarkGoroutines(b *testing.B) {
	for _, procs := range []int{1, 2, 8, 16, 64} {
		b.Run(strconv.Itoa(procs), func(b *testing.B) {
			l := realLocker(b, b.TempDir(), "")
			const turn = 64
			var ratios []float64
			for b.Loop() {
				start := time.Now()
				for range turn {
					cycle(b.Context(), b, l)
				}
				alone := time.Since(start)
				start = time.Now()
				var wg sync.WaitGroup
				for range procs {
					wg.Go(func() {
						for range turn / procs {
							cycle(b.Context(), b, l)
						}
					})
				}
				wg.Wait()
				ratios = append(ratios, float64(time.Since(start))/float64(alone))
			}
			b.ReportMetric(median(ratios), "x-alone")
		})
	}
}

// BenchmarkTwoHosts is two hosts that want one lock, on one machine without a gate
// between them: what it costs to be fair to the other.
func BenchmarkTwoHosts(b *testing.B) {
	dir := b.TempDir()
	var wg sync.WaitGroup
	ctx, stop := context.WithTimeout(b.Context(), 20*time.Second)
	defer stop()
	var grants [2]float64
	for n := range 2 {
		l := realLocker(b, dir, "")
		l.cfg.Host.Host = "host" + strconv.Itoa(n)
		wg.Go(func() {
			for ctx.Err() == nil {
				le, err := l.Lock(ctx, listKey, locking.Exclusive)
				if err != nil {
					return
				}
				grants[n]++
				if err := le.Unlock(context.WithoutCancel(ctx)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		wg.Wait()
	}
	sum := grants[0] + grants[1]
	b.ReportMetric(sum/20, "grants/s")
	b.ReportMetric(sum*sum/(2*(grants[0]*grants[0]+grants[1]*grants[1])), "jain")
}

// BenchmarkAgainstBare compares an uncontended cycle with the same system calls made
// bare, in turns, because a file system's own pace changes with what was just
// deleted on it. "x-bare" is the median ratio.
func BenchmarkAgainstBare(b *testing.B) {
	ctx := b.Context()
	root := b.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "locks/list@example.org"), 0o700); err != nil {
		b.Fatal(err)
	}
	dfd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(dfd)
	l := realLocker(b, root, "")
	const turn = 8
	var ours, floor time.Duration
	var ratios []float64
	var n int
	for b.Loop() {
		start := time.Now()
		for range turn {
			cycle(ctx, b, l)
		}
		our := time.Since(start)
		start = time.Now()
		for range turn {
			n++
			bare(b, dfd, "locks/list@example.org/", strconv.Itoa(n))
		}
		bare := time.Since(start)
		ours, floor, ratios = ours+our, floor+bare, append(ratios, float64(our)/float64(bare))
	}
	b.ReportMetric(median(ratios), "x-bare")
	b.ReportMetric(float64(n)/ours.Seconds(), "cycles/s")
	b.ReportMetric(float64(n)/floor.Seconds(), "bare/s")
}

// timed returns how many seconds f takes.
func timed(b *testing.B, f func() error) float64 {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds()
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func bare(b *testing.B, dfd int, dir, n string) {
	var st unix.Stat_t
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	touch := func(name string) {
		must(unix.UtimesNanoAt(dfd, name, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, unix.AT_SYMLINK_NOFOLLOW))
		must(unix.Fstatat(dfd, name, &st, unix.AT_SYMLINK_NOFOLLOW))
	}
	buf := make([]byte, 32<<10)
	list := func() {
		fd, err := unix.Openat(dfd, dir[:len(dir)-1], unix.O_RDONLY|unix.O_DIRECTORY, 0)
		must(err)
		for {
			k, err := unix.Getdents(fd, buf)
			must(err)
			if k == 0 {
				break
			}
		}
		must(unix.Close(fd))
	}
	create := func(name string, data []byte) {
		fd, err := unix.Openat(dfd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o660)
		must(err)
		must(unix.Fstat(fd, &st))
		if data != nil {
			_, err = unix.Write(fd, data)
			must(err)
		}
		must(unix.Close(fd))
	}
	claim, tk, ticket, lock := dir+"claim."+n, dir+"tk."+n, dir+"ticket."+n, dir+"lock"
	create(claim, buf[:400])
	must(unix.Linkat(dfd, claim, dfd, lock, 0))
	touch(claim)
	list()
	create(tk, nil)
	must(unix.Linkat(dfd, tk, dfd, ticket, 0))
	touch(claim)
	list()
	for _, name := range []string{lock, ticket, tk, claim} {
		must(unix.Unlinkat(dfd, name, 0))
	}
}
