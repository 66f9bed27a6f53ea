package queuetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"qrunner/queue"
)

// errEnd ends a session where the script wants it.
var errEnd = errors.New("hung up by script")

// sinkSession is one connection to a Sink.
type sinkSession struct {
	*Sink
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	n    int // the connection's number
	cut  int // octets until the connection is closed; -1: not
	tls  bool
	user string

	message  int // number of the transaction
	open     bool
	sender   string
	params   string
	rcpts    []string
	accepted int
	pending  *SinkMessage // ended by its dot, not answered
	octetsIn int
}

func newSinkSession(s *Sink, conn net.Conn, n int) *sinkSession {
	x := &sinkSession{Sink: s, conn: conn, n: n, cut: -1}
	x.in, x.out = bufio.NewReaderSize(x, 64<<10), bufio.NewWriterSize(conn, 16<<10)
	return x
}

// Read is for the buffered reader: it ends where the script cuts.
func (x *sinkSession) Read(p []byte) (int, error) {
	if x.cut < 0 {
		return x.conn.Read(p)
	}
	if x.cut == 0 {
		return 0, errEnd
	}
	n, err := x.conn.Read(p[:min(x.cut, len(p))])
	x.cut -= n
	return n, err
}

func (x *sinkSession) serve() {
	if x.c.TLS == SinkImplicitTLS && x.handshake() != nil {
		return
	}
	if _, err := x.step(queue.PhaseGreeting, "", "220 sink ESMTP"); err != nil {
		return
	}
	for {
		line, err := x.line()
		if err != nil || x.command(line) != nil {
			x.out.Flush()
			return
		}
	}
}

// line reads a command, and sends what is due before it waits for one.
func (x *sinkSession) line() ([]byte, error) {
	if x.in.Buffered() == 0 {
		if err := x.out.Flush(); err != nil {
			return nil, err
		}
	}
	line, err := x.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(line, []byte("\r\n")) {
		x.violation(x.n, "command ends in a bare LF: %q", line)
	}
	if x.c.NoPipelining && x.in.Buffered() > 0 {
		x.violation(x.n, "pipelined without leave: %q", line)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// step does what the script says, or else answers with usual. It reports whether the
// step succeeded.
func (x *sinkSession) step(phase queue.Phase, arg, usual string) (bool, error) {
	var a Action
	if x.c.Script != nil {
		a = x.c.Script(Step{Conn: x.n, Message: x.message, Phase: phase, Arg: arg})
	}
	if a.Wait > 0 {
		if err := x.wait(a.Wait); err != nil {
			return false, err
		}
	}
	reply := usual
	if a.Reply != "" {
		reply = a.Reply
	}
	ok := !a.silent() && (reply[0] == '2' || reply[0] == '3')
	if !a.silent() && !a.Lost {
		x.say(reply)
	}
	if a.Cut > 0 {
		if x.cut = a.Cut - x.in.Buffered(); x.cut <= 0 {
			return ok, x.end(Action{})
		}
	}
	if a.Hang || a.Deaf || a.Close {
		if phase == queue.PhaseDot && ok {
			x.accept()
		}
		return ok, x.end(a)
	}
	return ok, nil
}

func (x *sinkSession) wait(d time.Duration) error {
	if err := x.out.Flush(); err != nil {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-x.done:
		return errEnd
	}
}

// end is how the script lets a connection end.
func (x *sinkSession) end(a Action) error {
	x.out.Flush()
	switch {
	case a.Hang:
		io.Copy(io.Discard, x)
	case a.Deaf:
		<-x.done
	}
	return errEnd
}

// say gathers a reply for the next flush.
func (x *sinkSession) say(reply string) {
	if strings.IndexByte(reply, '\n') < 0 {
		x.out.WriteString(reply)
	} else {
		x.out.WriteString(strings.ReplaceAll(reply, "\n", "\r\n"))
	}
	x.out.WriteString("\r\n")
}

// handshake goes over to TLS.
func (x *sinkSession) handshake() error {
	t := tls.Server(x.conn, &tls.Config{Certificates: []tls.Certificate{x.cert}})
	if err := t.HandshakeContext(context.Background()); err != nil {
		return err
	}
	x.conn, x.tls = t, true
	x.out.Reset(t)
	return nil
}
