package smtpout

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// block is how much of a message goes into one write, under one deadline.
const block = 64 << 10

// link is a network connection with a deadline on every step and a context that
// ends all of them. One goroutine uses it at a time.
type link struct {
	raw  net.Conn // as dialled: takes the deadlines
	conn net.Conn // raw, or TLS over it
	in   *bufio.Reader
	out  []byte // commands gathered for the next write
	text []byte // room for the last answer

	ctx   context.Context // of the call in progress
	wait  time.Duration   // for the answer in progress
	armed bool
}

func newLink(conn net.Conn) *link {
	if t, ok := conn.(*net.TCPConn); ok {
		// Go's default, but thousands of small transactions hang on it: a delayed
		// ACK costs 40 ms each.
		t.SetNoDelay(true)
	}
	l := &link{raw: conn, conn: conn, ctx: context.Background()}
	l.in = bufio.NewReaderSize(l, maxReplyLine)
	return l
}

// begin ties the link to ctx until the returned function is called; that reports
// false if ctx ended meanwhile, and then the link is of no more use.
func (l *link) begin(ctx context.Context) (end func() bool) {
	l.ctx = ctx
	stop := context.AfterFunc(ctx, func() { l.raw.SetDeadline(time.Unix(1, 0)) })
	return func() bool {
		l.ctx = context.Background()
		return stop()
	}
}

// arm sets the deadline of the next step. The context is looked at afterwards, so
// that its end cannot be overwritten unseen.
func (l *link) arm(d time.Duration) {
	l.raw.SetDeadline(time.Now().Add(d))
	if l.ctx.Err() != nil {
		l.raw.SetDeadline(time.Unix(1, 0))
	}
}

// Read is for the buffered reader only. The deadline is set once for an answer,
// when it is not all there yet, however slowly it then trickles in.
func (l *link) Read(p []byte) (int, error) {
	if !l.armed {
		l.arm(l.wait)
		l.armed = true
	}
	return l.conn.Read(p)
}

// answer waits for one reply, at most d.
func (l *link) answer(d time.Duration) (answer, error) {
	l.wait, l.armed = d, false
	a, err := readAnswer(l.in, l.text[:0])
	l.text = a.lines
	return a, l.why(err)
}

// command gathers a command line; flush sends it.
func (l *link) command(parts ...string) {
	for _, p := range parts {
		l.out = append(l.out, p...)
	}
	l.out = append(l.out, "\r\n"...)
}

// param adds " NAME=n" to a command that is being put together.
func (l *link) param(name string, n int) {
	l.out = append(l.out, ' ')
	l.out = append(l.out, name...)
	l.out = append(l.out, '=')
	l.out = strconv.AppendInt(l.out, int64(n), 10)
}

// flush sends the gathered commands in one write.
func (l *link) flush(d time.Duration) error {
	_, err := l.write(l.out, d)
	l.out = l.out[:0]
	return err
}

// ask sends one command and waits for its answer.
func (l *link) ask(d time.Duration, parts ...string) (answer, error) {
	l.command(parts...)
	if err := l.flush(d); err != nil {
		return answer{}, err
	}
	return l.answer(d)
}

// send writes a message and the end behind it: the last block and the end in one
// write. It reports whether the end was handed over whole, whatever the error says.
func (l *link) send(msg []byte, end string, d time.Duration) (whole bool, err error) {
	for len(msg) > block {
		if _, err := l.write(msg[:block], d); err != nil {
			return false, err
		}
		msg = msg[block:]
	}
	l.out = append(append(l.out[:0], msg...), end...)
	n, err := l.write(l.out, d)
	whole = n == len(l.out)
	l.out = l.out[:0]
	return whole, err
}

func (l *link) write(p []byte, d time.Duration) (int, error) {
	l.arm(d)
	n, err := l.conn.Write(p)
	return n, l.why(err)
}

// why puts an I/O error in words: the context's cause if that ended, "timeout"
// instead of addresses and ports.
func (l *link) why(err error) error {
	switch {
	case err == nil:
		return nil
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("timeout: %w", os.ErrDeadlineExceeded)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("connection closed: %w", err)
	default:
		return err
	}
}

// secure goes over to TLS. Octets that came before the handshake are nobody's word
// and must not be read as if they had been encrypted.
func (l *link) secure(c *tls.Config, d time.Duration) error {
	if l.in.Buffered() > 0 {
		return fmt.Errorf("%w: more text before the TLS handshake", errNotSMTP)
	}
	l.arm(d)
	t := tls.Client(l.raw, c)
	if err := t.HandshakeContext(l.ctx); err != nil {
		return l.why(err)
	}
	l.conn = t
	return nil
}

// quiet reports that nothing came that was not asked for.
func (l *link) quiet() bool { return l.in.Buffered() == 0 }

// quit says goodbye, without waiting for the answer, and closes.
func (l *link) quit() {
	l.out = l.out[:0]
	l.command("QUIT")
	_ = l.flush(2 * time.Second) // a courtesy
	l.conn.Close()
}

// close ends a connection that broke, without TLS's own goodbye, which could wait.
func (l *link) close() { l.raw.Close() }
