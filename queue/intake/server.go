package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-smtp"
)

// ErrPort25: LMTP must not be spoken on port 25 (RFC 2033 §5).
var ErrPort25 = errors.New("LMTP must not be on port 25")

// ServeLMTP serves LMTP on l until ctx ends, then drains: waiting clients are told
// 421, messages in hand are finished for up to Limits.Drain. It closes l. It
// returns nil after a shutdown, else what made the listener fail.
func (in *Intake) ServeLMTP(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok && a.Port == 25 {
		return ErrPort25
	}
	return in.serve(ctx, l, true)
}

// ServeSMTP serves SMTP on l in the same way.
func (in *Intake) ServeSMTP(ctx context.Context, l net.Listener) error {
	return in.serve(ctx, l, false)
}

func (in *Intake) serve(ctx context.Context, l net.Listener, lmtp bool) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	g := newGate(l, in.door)
	srv := in.server(lmtp, func(c *conn) *session { return in.newSession(work, c, lmtp) })
	broken := make(chan error, 1)
	go func() { broken <- srv.Serve(g) }()
	var err error
	select {
	case err = <-broken:
		err = fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	in.drain(g, cancel)
	return err
}

// drain waits for the connections to end by themselves, then ends the work in hand,
// and at last the connections.
func (in *Intake) drain(g *gate, cancel context.CancelFunc) {
	empty := g.stop()
	select {
	case <-empty:
		return
	case <-time.After(in.Limits.Drain):
	}
	cancel()
	select {
	case <-empty:
	case <-time.After(time.Second):
		in.Log.Warn("cut connections that did not end", "conns", g.cut())
	}
}

// server makes go-smtp's part.
func (in *Intake) server(lmtp bool, open func(*conn) *session) *smtp.Server {
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		own, ok := c.Conn().(*conn)
		if !ok {
			return nil, errTrouble.smtpError()
		}
		return open(own), nil
	}))
	srv.LMTP = lmtp
	srv.Domain = in.Host
	srv.EnableSMTPUTF8 = true
	srv.MaxRecipients = in.Limits.Recipients
	srv.MaxMessageBytes = in.Limits.Message
	srv.MaxLineLength = 2 * commandLine // conn has the limit that counts
	srv.WriteTimeout = in.Limits.Block
	srv.ErrorLog = printLog{in.Log}
	return srv
}

func (in *Intake) newSession(ctx context.Context, c *conn, lmtp bool) *session {
	source := "smtp"
	if lmtp {
		source = "lmtp"
	}
	if c.client == "" {
		source += " unix"
	} else {
		source += " " + c.client
	}
	return &session{in: in, conn: c, ctx: ctx, lmtp: lmtp, source: source, log: in.Log.With("source", source)}
}

// printLog takes what go-smtp has to say: lost connections, and panics if there is
// one outside of our methods.
type printLog struct{ *slog.Logger }

// Printf logs one formatted line.
func (l printLog) Printf(format string, v ...any) {
	l.Warn("smtp server", "err", fmt.Sprintf(format, v...))
}

// Println logs one line.
func (l printLog) Println(v ...any) {
	l.Warn("smtp server", "err", strings.TrimSpace(fmt.Sprintln(v...)))
}
