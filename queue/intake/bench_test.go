package intake

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"qrunner/queue"
)

// diskSpool does what a durable Put costs at least: write, sync, rename.
type diskSpool struct {
	*share
	dir string
	n   atomic.Int64
}

func (d *diskSpool) Put(_ context.Context, e *queue.Entry) (queue.ID, error) {
	name := filepath.Join(d.dir, fmt.Sprint(d.n.Add(1)))
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Write(e.Raw); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return "x", os.Rename(name+".tmp", name)
}

// BenchmarkLMTP stores 3 kB posts. "put" is the same calls of Put without LMTP, the
// floor; "nothing" has a Put that costs nothing, so that it shows intake alone; "spool"
// is the real one.
func BenchmarkLMTP(b *testing.B) {
	raw := "From: a@example.org\r\nSubject: x\r\n\r\n" + strings.Repeat(strings.Repeat("x", 70)+"\r\n", 42)
	for _, conns := range []int{1, 10} {
		b.Run(fmt.Sprintf("put/conns=%d", conns), func(b *testing.B) {
			d := &diskSpool{share: newShare(), dir: b.TempDir()}
			spread(b, conns, func(int) error {
				_, err := d.Put(b.Context(), &queue.Entry{Raw: []byte(raw)})
				return err
			})
		})
		for kind, open := range map[string]func(testing.TB) Spool{
			"disk":    func(t testing.TB) Spool { return &diskSpool{share: newShare(), dir: t.TempDir()} },
			"nothing": func(testing.TB) Spool { return free{} },
			"spool":   func(t testing.TB) Spool { return realSpool(t) },
		} {
			b.Run(fmt.Sprintf("%s/conns=%d", kind, conns), func(b *testing.B) {
				in := New(Config{Spool: open(b), Directory: newShare()})
				addr := serve(b, in, "lmtp", "tcp")
				var clients []*client
				for range conns {
					clients = append(clients, newClient(b, connect(b, addr), "lmtp"))
				}
				spread(b, conns, func(i int) error {
					clients[i].begin("ant@lists.example.com")
					clients[i].write(raw + ".\r\n")
					clients[i].want("250")
					return nil
				})
			})
		}
	}
}

type free struct{}

func (free) Put(context.Context, *queue.Entry) (queue.ID, error) { return "x", nil }

// spread runs f b.N times from n goroutines and reports posts per second.
func spread(b *testing.B, n int, f func(i int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}
