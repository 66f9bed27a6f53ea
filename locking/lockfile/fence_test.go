package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync/atomic"
	"testing"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// diskLog is a Fencer that does what a list's state does at a grant: a numbered record,
// synced, published by link, and its folder synced.
type diskLog struct {
	fs  fsys.FS
	id  string
	tmp atomic.Int64
}

func newDiskLog(f fsys.FS, id string) (*diskLog, error) {
	return &diskLog{fs: f, id: id}, fsys.MkdirAll(f, "log")
}

// Fence implements locking.Fencer.
func (l *diskLog) Fence(ctx context.Context) (locking.Token, error) {
	tmp := fmt.Sprintf("log/tmp.%s.%d", l.id, l.tmp.Add(1))
	err := fsys.WriteNew(l.fs, tmp, func(w io.Writer) error {
		_, err := io.WriteString(w, l.id)
		return err
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.fs.Remove(tmp) }()
	for ctx.Err() == nil {
		last, err := l.last()
		if err != nil {
			return 0, err
		}
		err = fsys.LinkNew(l.fs, tmp, fmt.Sprintf("log/%020d", last+1))
		if err == nil {
			err = fsys.SyncDir(l.fs, "log")
			if last > 8 { // as old records go
				_ = l.fs.Remove(fmt.Sprintf("log/%020d", last-8))
			}
			return locking.Token(last + 1), err
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
	return 0, context.Cause(ctx)
}

func (l *diskLog) last() (n uint64, err error) {
	list, err := l.fs.ReadDir("log")
	for _, e := range list {
		if k, err := strconv.ParseUint(e.Name, 10, 64); err == nil {
			n = max(n, k)
		}
	}
	return n, err
}

// BenchmarkFenced is a grant and a release with a fence of two fsyncs, alone; "x-fence" is
// the median ratio to the fence alone.
func BenchmarkFenced(b *testing.B) {
	l := realLocker(b, b.TempDir(), "")
	f, err := newDiskLog(l.cfg.FS, "bench")
	if err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for b.Loop() {
		whole := timed(b, func() error {
			le, err := l.Lock(b.Context(), listKey, locking.Exclusive, locking.WithFencer(f))
			if err != nil {
				return err
			}
			return le.Unlock(b.Context())
		})
		fence := timed(b, func() error { _, err := f.Fence(b.Context()); return err })
		ratios = append(ratios, whole/fence)
	}
	b.ReportMetric(median(ratios), "x-fence")
}
