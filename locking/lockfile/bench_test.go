package lockfile

import (
	"context"
	"os"
	"path/filepath"
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
	l, err := openReal(dir, localDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cfg.FS.(*fsys.Root).Close() })
	return l
}

func openReal(dir, localDir string) (*Locker, error) {
	share, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	id, err := hosts.Self("bench")
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

// BenchmarkSixteen is sixteen goroutines of one process that want one lock.
func BenchmarkSixteen(b *testing.B) {
	l := realLocker(b, b.TempDir(), "")
	var wg sync.WaitGroup
	n := b.N
	b.ResetTimer()
	for g := range 16 {
		wg.Go(func() {
			for i := g; i < n; i += 16 {
				cycle(b.Context(), b, l)
			}
		})
	}
	wg.Wait()
}

// BenchmarkAgainstBare compares an uncontended cycle with the same system calls made
// bare, in turns, because a file system's own pace changes with what was just
// deleted on it. "x-bare" is the ratio.
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
	const turn = 50
	var ours, floor time.Duration
	var n int
	for b.Loop() {
		start := time.Now()
		for range turn {
			cycle(ctx, b, l)
		}
		ours += time.Since(start)
		start = time.Now()
		for range turn {
			n++
			bare(b, dfd, "locks/list@example.org/", strconv.Itoa(n))
		}
		floor += time.Since(start)
	}
	b.ReportMetric(float64(ours)/float64(floor), "x-bare")
	b.ReportMetric(float64(n)/ours.Seconds(), "cycles/s")
	b.ReportMetric(float64(n)/floor.Seconds(), "bare/s")
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
