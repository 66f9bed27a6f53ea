package zklock

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

// brokenPipe delivers a write and reports an error all the same, once it is armed.
type brokenPipe struct {
	net.Conn
	arm *atomic.Bool
}

func (b brokenPipe) Write(p []byte) (int, error) {
	broken := len(p) > 60 && b.arm.Swap(false) // not a ping
	n, err := b.Conn.Write(p)
	if broken {
		_ = b.Close()
		return 0, io.ErrClosedPipe
	}
	return n, err
}

// An error of the network itself is no answer: the call is done again.
func TestWriteErrors(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		var arm atomic.Bool
		w.mod = func(c *Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				return brokenPipe{conn, &arm}, err
			}
		}
		w.unlock(w.lock(0))
		for range 5 {
			arm.Store(true)
			le := w.lock(0)
			arm.Store(true)
			w.unlock(le)
			w.clean()
			if arm.Load() {
				t.Error("nothing was broken")
			}
		}
	})
}

// A create that we gave up is done later, by the server that we turned to again, and the
// first look for it met trouble of its own.
func TestCreateDoneLate(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		l := w.host(0)
		late := make(chan struct{})
		var creates, looks atomic.Int64
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if isContender("create")(r) && creates.Add(1) == 1 {
				return zktest.Fate{Wait: late}
			}
			if r.Op == "multi" && creates.Load() == 1 {
				if n := looks.Add(1); n > 1 && n < 6 { // the first one finds out that there is none
					return zktest.Fate{Lose: true}
				}
			}
			return zktest.Fate{}
		})
		out := w.lockLater(context.Background(), 0, locking.Exclusive)
		l.link.Drop()
		time.Sleep(timeout / 2)
		close(late)
		w.unlock(w.got(out, 2*timeout))
		time.Sleep(2 * timeout)
		w.clean()
	})
}

// An answer that a removal cannot do anything about is not the end of it.
func TestRemovalDoesNotGiveUp(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		n := 0
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			if r.Op == "delete" && n < 3 {
				n++
				return zktest.Fate{Code: -127} // throttled
			}
			return zktest.Fate{}
		})
		w.unlock(le)
		w.clean()
	})
}
