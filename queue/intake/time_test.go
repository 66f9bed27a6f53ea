package intake

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/queue"
)

// pipeListener accepts net.Pipe ends, whose deadlines a bubble's clock moves.
type pipeListener struct {
	addr net.Addr
	next chan net.Conn
	done chan struct{}
}

func newPipeListener() pipeListener {
	return pipeListener{&net.UnixAddr{}, make(chan net.Conn), make(chan struct{})}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l pipeListener) Addr() net.Addr { return l.addr }
func (l pipeListener) Close() error   { close(l.done); return nil }

func (l pipeListener) dial() net.Conn {
	c, s := net.Pipe()
	l.next <- s
	return c
}

// rest reads what is still to come and says how long that took.
func (c *client) rest() (string, time.Duration) {
	start := time.Now()
	text, _ := io.ReadAll(c.in)
	return string(text), time.Since(start).Round(time.Second)
}

// timed runs f with a served Intake in a bubble.
func timed(t *testing.T, spool Spool, f func(t *testing.T, stop func(), l pipeListener)) {
	synctest.Test(t, func(t *testing.T) {
		s := newShare()
		in := newIntake(t, s, Limits{})
		if spool != nil {
			in.Spool = spool
		}
		l := newPipeListener()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- in.ServeLMTP(ctx, l) }()
		f(t, cancel, l)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// drip writes text once a minute until the connection ends; what it returns waits
// for that.
func drip(c *client, text string) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := c.conn.Write([]byte(text)); err != nil {
				return
			}
			time.Sleep(time.Minute)
		}
	}()
	return func() { <-done }
}

func TestSilentClient(t *testing.T) {
	timed(t, nil, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		if text, took := c.rest(); !strings.HasPrefix(text, "421 4.4.2") || took != 5*time.Minute {
			t.Errorf("%q after %v", text, took)
		}
	})
}

// TestSlowCommand: an octet a minute does not keep a connection.
func TestSlowCommand(t *testing.T) {
	timed(t, nil, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		defer drip(c, "N")()
		if text, took := c.rest(); !strings.HasPrefix(text, "421 4.4.2") || took != 5*time.Minute {
			t.Errorf("%q after %v", text, took)
		}
	})
}

func TestSilentInsideMessage(t *testing.T) {
	timed(t, nil, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		pipelined(c, "ant@lists.example.com", "bee@lists.example.com")
		c.write("hello\r\n")
		text, took := c.rest()
		if took != 3*time.Minute || strings.Count(text, "451 4.4.2 <") != 2 || !strings.Contains(text, "\n421 4.4.2") {
			t.Errorf("%q after %v", text, took)
		}
	})
}

// TestSlowMessage: a line a minute is never silent, but takes too long in all.
func TestSlowMessage(t *testing.T) {
	timed(t, nil, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		pipelined(c, "ant@lists.example.com")
		defer drip(c, "hello\r\n")()
		if text, took := c.rest(); took != 30*time.Minute || !strings.HasPrefix(text, "451 4.4.2 <ant@") {
			t.Errorf("%q after %v", text, took)
		}
	})
}

// pipelined is begin for connections without buffers: one command at a time.
func pipelined(c *client, rcpt ...string) {
	c.t.Helper()
	c.cmd("MAIL FROM:<anne@example.org>")
	for _, r := range rcpt {
		c.cmd("RCPT TO:<" + r + ">")
	}
	if got := c.cmd("DATA"); !strings.HasPrefix(got, "354") {
		c.t.Fatal(got)
	}
}

// TestStop: who waits is told at once, a message in hand is finished.
func TestStop(t *testing.T) {
	timed(t, nil, func(t *testing.T, stop func(), l pipeListener) {
		idle, busy := newClient(t, l.dial(), "lmtp"), newClient(t, l.dial(), "lmtp")
		pipelined(busy, "ant@lists.example.com")
		busy.write("hello\r\n")
		stop()
		if text, took := idle.rest(); !strings.HasPrefix(text, "421 4.3.2") || took != 0 {
			t.Errorf("idle: %q after %v", text, took)
		}
		time.Sleep(10 * time.Second)
		busy.write("world\r\n.\r\n")
		if text, took := busy.rest(); !strings.HasPrefix(text, "250 2.0.0 <ant@") || !strings.Contains(text, "\n421 4.3.2") || took != 0 {
			t.Errorf("busy: %q after %v", text, took)
		}
	})
}

// slowSpool stores nothing until its context ends.
type slowSpool struct{}

func (slowSpool) Put(ctx context.Context, _ *queue.Entry) (queue.ID, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// TestStopWhileStoring: a store that hangs is given the drain time, then the client
// is told that nothing was taken.
func TestStopWhileStoring(t *testing.T) {
	timed(t, slowSpool{}, func(t *testing.T, stop func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		pipelined(c, "ant@lists.example.com")
		c.write("hello\r\n.\r\n")
		stop()
		if text, took := c.rest(); !strings.HasPrefix(text, "451 4.3.2 <ant@") || took != 30*time.Second {
			t.Errorf("%q after %v", text, took)
		}
	})
}

// TestHangingStore: without a shutdown, Put has half the time that clients wait.
func TestHangingStore(t *testing.T) {
	timed(t, slowSpool{}, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		pipelined(c, "ant@lists.example.com")
		c.write("hello\r\n.\r\n")
		start := time.Now()
		c.want("451 4.3.0 <ant@")
		if took := time.Since(start); took != 5*time.Minute {
			t.Errorf("after %v", took)
		}
		c.conn.Close()
	})
}

// TestClientThatNeverReads is hung up on when its replies cannot be written.
func TestClientThatNeverReads(t *testing.T) {
	timed(t, nil, func(t *testing.T, _ func(), l pipeListener) {
		c := newClient(t, l.dial(), "lmtp")
		start := time.Now()
		for {
			if _, err := c.conn.Write([]byte("NOOP\r\n")); err != nil {
				break
			}
		}
		if took := time.Since(start).Round(time.Second); took != 3*time.Minute {
			t.Errorf("hung up after %v", took)
		}
	})
}
