package intake

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"
)

// conn stands between the network and go-smtp. It owns the deadlines, hands over
// one command line at a time (so that no octet behind DATA is taken for a command,
// or the other way round), reads messages itself, and sees each reply last.
type conn struct {
	net.Conn
	client string
	gate   *gate
	in     *bufio.Reader
	out    []byte // a reply line that is not complete yet

	// By the reading goroutine only.
	pending []byte    // what go-smtp has not yet taken of a line
	failed  error     // after an error no octet is read any more
	data    bool      // inside a message
	until   time.Time // a command line has to be complete by then, a message too

	stopping, closed atomic.Bool
}

// errStopped ends a read that waits for a command while the server stops.
var errStopped = errors.New("server is stopping")

// errInside: a message was not read to its end; what follows are no commands.
var errInside = errors.New("message not read to its end")

func newConn(nc net.Conn, client string, g *gate) *conn {
	c := &conn{Conn: nc, client: client, gate: g}
	c.in = bufio.NewReaderSize(wire{c}, 4*commandLine)
	return c
}

// Read gives go-smtp the next command line, or a part of one, never more.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.pending) == 0 {
		line, err := c.command()
		if err != nil {
			return 0, err
		}
		c.pending = line
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// command reads a line. The errors are those that go-smtp knows how to answer.
func (c *conn) command() ([]byte, error) {
	switch {
	case c.closed.Load():
		return nil, net.ErrClosed
	case c.failed != nil:
		return nil, c.failed
	case c.data:
		return nil, errInside
	}
	c.until = time.Now().Add(c.gate.limits.Idle)
	var line []byte
	err := errStopped
	if !c.stopping.Load() {
		line, err = c.in.ReadSlice('\n')
	}
	switch {
	case errors.Is(err, errStopped):
		c.say("421 4.3.2 shutting down, try again later")
		c.failed = io.EOF
	case errors.Is(err, bufio.ErrBufferFull), len(line) > commandLine:
		c.failed = smtp.ErrTooLongLine
	case err != nil:
		c.failed = err
	case err == nil && isNullMail(line):
		line = withoutSize(line)
	case isBDAT(line):
		c.say("502 5.5.1 BDAT is not offered")
		c.failed = io.EOF // the chunk behind it must not be read as commands
	}
	return line, c.failed
}

// SetReadDeadline does nothing: go-smtp knows one deadline for a whole message.
func (c *conn) SetReadDeadline(time.Time) error { return nil }

// Write sends what go-smtp answers, line by line, after a look at it.
func (c *conn) Write(p []byte) (int, error) {
	c.out = append(c.out, p...)
	var lines []byte
	lines, c.out = rewrite(c.out)
	if len(lines) == 0 {
		return len(p), nil
	}
	if _, err := c.Conn.Write(lines); err != nil {
		c.Conn.Close() // go-smtp does not look; the next read will
		return 0, err
	}
	return len(p), nil
}

// say answers past go-smtp, just before the connection is closed.
func (c *conn) say(line string) {
	c.Conn.SetWriteDeadline(time.Now().Add(time.Second))
	io.WriteString(c.Conn, line+"\r\n")
}

// Close may be called again, and while others read. The place is free by the time
// that the client sees the end.
func (c *conn) Close() error {
	if !c.closed.Swap(true) {
		c.gate.door.leave(c.client)
	}
	err := c.Conn.Close()
	c.gate.remove(c)
	return err
}
