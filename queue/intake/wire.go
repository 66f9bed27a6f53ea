package intake

import (
	"errors"
	"os"
	"time"
)

// wire is the network as conn's buffer reads it.
type wire struct{ *conn }

// Read waits until the deadline of what is being read. A waiting Read is woken by
// stop; inside a message it then waits on.
func (w wire) Read(p []byte) (int, error) {
	c := w.conn
	for {
		until := c.until
		if c.data {
			until = earlier(until, time.Now().Add(c.gate.limits.Block))
		}
		if err := c.Conn.SetReadDeadline(until); err != nil {
			return 0, err
		}
		if !c.data && c.stopping.Load() {
			return 0, errStopped
		}
		n, err := c.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(until) {
			return n, err
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stop makes the next wait for a command end with 421, this one included. The flag
// comes before the deadline, and Read sets its deadline before it looks at the flag.
func (c *conn) stop() {
	c.stopping.Store(true)
	c.Conn.SetReadDeadline(time.Unix(1, 0))
}
