package smtpout_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

// message is about 5 KB, as the peers' figures are.
func message() []byte {
	return []byte("Message-ID: <bench@example.org>\r\nSubject: bench\r\n\r\n" +
		strings.Repeat("The quick brown fox jumps over the lazy dog, again and again.\r\n", 80))
}

func members(n int) []mailaddr.Address {
	var out []mailaddr.Address
	for i := range n {
		out = append(out, mailaddr.Address(fmt.Sprintf("m%06d@d%02d.example.test", i, i%100)))
	}
	return out
}

// BenchmarkSend is conns connections over TCP to a counting sink; an operation is a
// transaction.
func BenchmarkSend(b *testing.B) {
	for _, conns := range []int{1, 4} {
		for _, rcpts := range []int{100, 1} {
			b.Run(fmt.Sprintf("conns=%d/rcpts=%d", conns, rcpts), func(b *testing.B) {
				sink, err := queuetest.NewSink(queuetest.SinkConfig{Keep: queuetest.KeepCounts})
				if err != nil {
					b.Fatal(err)
				}
				defer sink.Close()
				addr, err := sink.Listen(b.Context(), "")
				if err != nil {
					b.Fatal(err)
				}
				benchmark(b, smtpout.Config{Host: addr, MaxConns: conns}, rcpts)
			})
		}
	}
}

func benchmark(b *testing.B, c smtpout.Config, rcpts int) {
	pool, err := smtpout.New(c)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	work := make(chan int)
	done := make(chan error, c.MaxConns)
	raw, to := message(), members(rcpts)
	b.ReportAllocs()
	b.ResetTimer()
	for range c.MaxConns {
		go func() { done <- blast(b.Context(), pool, work, raw, to) }()
	}
	for i := range b.N {
		select {
		case work <- i:
		case err := <-done:
			b.Fatal(err)
		}
	}
	close(work)
	for range c.MaxConns {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
	b.ReportMetric(float64(b.N*rcpts)/b.Elapsed().Seconds(), "rcpt/s")
}

func blast(ctx context.Context, p *smtpout.Pool, work <-chan int, raw []byte, to []mailaddr.Address) error {
	c, err := p.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	for range work {
		for _, r := range c.Send(ctx, &queue.Transaction{Sender: "list-bounces+1@example.org", Recipients: to, Raw: raw}) {
			if !r.Positive() {
				return fmt.Errorf("reply %s", r)
			}
		}
	}
	return nil
}
