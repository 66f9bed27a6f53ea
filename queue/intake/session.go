package intake

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/emersion/go-smtp"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// session is one client's dialogue. go-smtp calls its methods one at a time.
type session struct {
	in   *Intake
	conn *conn
	// ctx ends when the server has waited long enough at a shutdown.
	ctx    context.Context
	lmtp   bool
	source string
	log    *slog.Logger

	mail    bool // MAIL was accepted
	size    int64
	env     queue.Envelope
	paths   []string // as go-smtp knows the recipients
	targets []lists.Target
}

var _ smtp.LMTPSession = (*session)(nil)

// Mail takes the sender (RFC 5321 §4.1.1.2).
func (s *session) Mail(from string, opts *smtp.MailOptions) error {
	return s.guard("MAIL FROM:<"+from+">", func() error {
		if s.mail {
			return errNested
		}
		var sender mailaddr.Address
		if from != "" {
			a, err := unquoted(from)
			if err != nil {
				return errSender
			}
			sender = a
		}
		s.mail, s.size = true, opts.Size
		s.env = queue.Envelope{
			Sender: sender, Source: s.source,
			UTF8: opts.UTF8 || !sender.ASCII(), EightBit: opts.Body == smtp.Body8BitMIME,
		}
		return nil
	})
}

// Rcpt resolves a recipient (RFC 5321 §4.1.1.3).
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	return s.guard("RCPT TO:<"+to+">", func() error {
		t, err := s.target(to)
		if err != nil {
			return err
		}
		if !s.lmtp && len(s.targets) > 0 && s.targets[0] != t {
			return errOneTarget
		}
		s.paths = append(s.paths, to)
		s.targets = append(s.targets, t)
		return nil
	})
}

// target is whose mail it is. The bare <Postmaster> of RFC 5321 §4.5.1 is the site's.
func (s *session) target(to string) (lists.Target, error) {
	if strings.EqualFold(to, "postmaster") {
		return lists.Target{List: lists.Site, Sub: lists.SubOwner}, nil
	}
	a, err := unquoted(to)
	if err != nil {
		return lists.Target{}, errRecipient
	}
	s.env.UTF8 = s.env.UTF8 || !a.ASCII()
	return s.in.resolve(s.ctx, a)
}

// Data takes a message on SMTP: one target, one answer.
func (s *session) Data(io.Reader) error {
	var answer error
	err := s.guard("DATA", func() error {
		return s.receive(func(_ int, err error) { answer = err })
	})
	if err != nil {
		return err
	}
	return s.answer("DATA", answer, s.stored())
}

// LMTPData takes a message on LMTP: an answer for each accepted recipient, in order
// (RFC 2033 §4.2). What is returned is the answer for those that got none.
func (s *session) LMTPData(_ io.Reader, status smtp.StatusCollector) error {
	return s.guard("DATA", func() error {
		return s.receive(func(i int, err error) {
			status.SetStatus(s.paths[i], s.answer("DATA", err, s.stored()))
		})
	})
}

// receive reads the message and stores it. It calls answer per recipient, or
// returns an error that is the answer for all.
func (s *session) receive(answer func(int, error)) error {
	b := s.in.newBody(s.size)
	defer b.free()
	s.env.Trace = newTrace()
	if err := s.conn.message(b); err != nil {
		return err
	}
	b.headOf(s.targets)
	if err := b.err(); err != nil {
		return err
	}
	s.in.accept(s.ctx, s.env, s.targets, b.raw, answer)
	return nil
}

func (s *session) stored() *reply {
	return &reply{250, [3]int{2, 0, 0}, "stored, trace " + s.env.Trace}
}

// guard runs what go-smtp asked for: panics become errors, and errors go through
// the adapter. Nothing reaches go-smtp but through here.
func (s *session) guard(command string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.answer(command, fmt.Errorf("panic: %v\n%s", p, debug.Stack()), nil)
		}
	}()
	return s.answer(command, f(), nil)
}

// answer makes what go-smtp is handed of an error, and of none: ok, if there is one.
// Refusals are logged; this is the last place that sees the whole error.
func (s *session) answer(command string, err error, ok *reply) error {
	if err == nil {
		if ok == nil {
			return nil
		}
		return ok.smtpError()
	}
	r := replyOf(err)
	level := slog.LevelWarn
	if r.code >= 500 || r == errOneTarget {
		level = slog.LevelInfo
	}
	said := []any{"command", oneLine(command), "reply", r.Error()}
	if s.env.Trace != "" {
		said = append(said, "trace", s.env.Trace)
	}
	if why := beside(r, err); why != "" {
		said = append(said, "err", why)
	}
	s.log.Log(s.ctx, level, "refused", said...)
	return r.smtpError()
}

// Reset forgets the transaction (RSET, a new LHLO, the end of a message).
func (s *session) Reset() {
	s.mail, s.size, s.env, s.paths, s.targets = false, 0, queue.Envelope{}, nil, nil
}

// Logout is called once at the end.
func (s *session) Logout() error { return nil }
