package smtpout_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"qrunner/queue/smtpout"
)

// smtpSink starts Postfix's smtp-sink on a free port, or skips.
func smtpSink(t testing.TB, args ...string) (addr string) {
	t.Helper()
	path, err := exec.LookPath("smtp-sink")
	if err != nil {
		path = "/usr/sbin/smtp-sink"
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	l.Close()
	if os.Getuid() == 0 {
		args = append(args, "-u", "nobody") // it insists
	}
	cmd := exec.CommandContext(t.Context(), path, append(args, addr, "100")...)
	if err := cmd.Start(); err != nil {
		if os.Getenv("QRUNNER_NEED_PEERS") != "" {
			t.Fatal(err)
		}
		t.Skip("no smtp-sink (Debian package postfix):", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // killed: the error says so
	})
	for range 200 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			conn.Close()
			return addr
		}
		time.Sleep(10 * time.Millisecond) // another program: nothing tells us
	}
	t.Fatal("smtp-sink does not listen")
	return ""
}

func TestPostfixSink(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		args       []string
	}{
		{"all extensions", "250 dot, 250 dot", nil},
		{"no PIPELINING", "250 dot, 250 dot", []string{"-p"}},
		{"no ESMTP", "250 dot, 250 dot", []string{"-e"}},
		{"defers recipients", "450 rcpt, 450 rcpt", []string{"-r", "RCPT"}},
		{"refuses recipients", "500 rcpt, 500 rcpt", []string{"-f", "RCPT"}},
		{"refuses DATA", "500 data, 500 data", []string{"-f", "DATA"}},
		{"defers the message", "450 dot, 450 dot", []string{"-r", "."}},
		{"hangs up at DATA", "0 data, 0 data", []string{"-q", "DATA"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pool, err := smtpout.New(smtpout.Config{Host: smtpSink(t, tt.args...)})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			for range 3 {
				c, err := pool.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < 2 && !c.Broken(); i++ {
					if got := outline(c.Send(t.Context(), mail("a@x.org", "b@x.org"))); got != tt.want {
						t.Errorf("replies %q, want %q", got, tt.want)
					}
				}
				c.Release()
			}
		})
	}
}

// BenchmarkPostfix sends to smtp-sink, and lets Postfix's smtp-source do the same. An
// operation is a transaction.
func BenchmarkPostfix(b *testing.B) {
	for _, rcpts := range []int{100, 1} {
		b.Run(fmt.Sprintf("ours/conns=4/rcpts=%d", rcpts), func(b *testing.B) {
			benchmark(b, smtpout.Config{Host: smtpSink(b), MaxConns: 4}, rcpts)
		})
		b.Run(fmt.Sprintf("smtp-source/conns=4/rcpts=%d", rcpts), func(b *testing.B) {
			addr := smtpSink(b)
			n := max(b.N, 4) // each session sends at least one
			cmd := exec.CommandContext(b.Context(), "/usr/sbin/smtp-source", "-d", "-s", "4", "-l", "5000",
				"-m", fmt.Sprint(n), "-r", fmt.Sprint(rcpts), "-f", "a@example.test", "-t", "m@example.test", addr)
			b.ResetTimer()
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Skipf("smtp-source: %v %s", err, out)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tx/s")
			b.ReportMetric(float64(n*rcpts)/b.Elapsed().Seconds(), "rcpt/s")
		})
	}
}
