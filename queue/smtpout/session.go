package smtpout

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"qrunner/queue"
)

// session is one connection to a host, through EHLO, STARTTLS and AUTH.
type session struct {
	*link
	c    *Config
	host *host
	ext  extensions
	tls  bool
	// sent counts transactions begun; from the second on the server may have closed
	// the connection for a reason that has nothing to do with this one.
	sent int
	// reset: a transaction was left open and RSET has to go first.
	reset bool
	// gone: the connection is of no more use.
	gone, dropped bool
	// idle ends the session while it is in the pool; nil if it never was.
	idle *time.Timer
}

// open connects to a host and gets ready for MAIL. Errors are *queue.SiteError.
func open(ctx context.Context, c *Config, h *host) (*session, error) {
	s, err := connect(ctx, c, h, c.TLS)
	if site, ok := errors.AsType[*queue.SiteError](err); ok && c.TLS == TLSMay && c.Username == "" &&
		site.Phase == queue.PhaseTLS && ctx.Err() == nil {
		return connect(ctx, c, h, TLSNone)
	}
	return s, err
}

func connect(ctx context.Context, c *Config, h *host, mode TLSMode) (*session, error) {
	dial, cancel := context.WithTimeout(ctx, c.Timeouts.Connect)
	defer cancel()
	conn, err := c.Dial(dial, "tcp", h.addr)
	if err != nil {
		return nil, &queue.SiteError{Host: h.addr, Phase: queue.PhaseConnect, Err: err}
	}
	s := &session{link: newLink(conn), c: c, host: h}
	end := s.begin(ctx)
	err = s.hello(mode)
	if !end() && err == nil {
		err = s.site(queue.PhaseConnect, answer{}, context.Cause(ctx))
	}
	if err == nil {
		return s, nil
	}
	if site, ok := errors.AsType[*queue.SiteError](err); ok && site.Err == nil && site.Reply.Code != 421 {
		s.quit() // who refuses us waits for that (RFC 5321 §3.1)
	} else {
		s.close()
	}
	return nil, err
}

// hello takes a new connection to the point where MAIL may be sent.
func (s *session) hello(mode TLSMode) error {
	if mode == TLSImplicit {
		if err := s.handshake(); err != nil {
			return err
		}
	}
	a, err := s.answer(s.c.Timeouts.Greeting)
	if err != nil || !a.ok() {
		return s.site(queue.PhaseGreeting, a, err)
	}
	if err := s.ehlo(mode); err != nil {
		return err
	}
	if mode == TLSRequire || mode == TLSMay && s.ext.startTLS {
		if err := s.startTLS(mode); err != nil {
			return err
		}
	}
	if s.c.Username != "" {
		return s.authenticate()
	}
	return nil
}

// ehlo introduces us; a server that knows no EHLO gets HELO (RFC 5321 §3.2), if
// nothing is needed that HELO cannot have.
func (s *session) ehlo(mode TLSMode) error {
	a, err := s.ask(s.c.Timeouts.Greeting, "EHLO ", s.c.Hello)
	if err == nil && a.ok() {
		s.ext = parseExtensions(a.lines)
		return nil
	}
	if err == nil && a.code/100 == 5 && mode != TLSRequire && s.c.Username == "" {
		a, err = s.ask(s.c.Timeouts.Greeting, "HELO ", s.c.Hello)
		s.ext = extensions{}
	}
	if err != nil || !a.ok() {
		return s.site(queue.PhaseEHLO, a, err)
	}
	return nil
}

// startTLS goes over to TLS and introduces us anew (RFC 3207 §4.2). In mode may, a
// server that announces it but will not is taken in the clear.
func (s *session) startTLS(mode TLSMode) error {
	if !s.ext.startTLS {
		return s.site(queue.PhaseTLS, answer{}, errors.New("STARTTLS is not announced"))
	}
	a, err := s.ask(s.c.Timeouts.Greeting, "STARTTLS")
	if err == nil && a.refused() && a.code != 421 && mode == TLSMay {
		return nil
	}
	if err != nil || !a.ok() {
		return s.site(queue.PhaseTLS, a, err)
	}
	if err := s.handshake(); err != nil {
		return err
	}
	return s.ehlo(mode)
}

func (s *session) handshake() error {
	name := s.c.ServerName
	if name == "" {
		name, _, _ = net.SplitHostPort(s.host.addr)
	}
	t := &tls.Config{ServerName: name, RootCAs: s.c.RootCAs, ClientSessionCache: s.host.tickets}
	// Whoever could forge the certificate could as well hide STARTTLS: in mode may a
	// check protects nothing but credentials.
	t.InsecureSkipVerify = s.c.NoVerify || s.c.TLS == TLSMay && s.c.Username == ""
	if err := s.secure(t, s.c.Timeouts.Connect); err != nil {
		return s.site(queue.PhaseTLS, answer{}, err)
	}
	s.tls = true
	return nil
}

// spent reports that the session has been used as often as it may.
func (s *session) spent() bool { return s.c.MaxMessages > 0 && s.sent >= s.c.MaxMessages }

// site is a fault before MAIL: err, or else what the server answered.
func (s *session) site(phase queue.Phase, a answer, err error) error {
	e := &queue.SiteError{Host: s.host.addr, Phase: phase, Err: err}
	if err == nil {
		e.Reply = a.reply(phase)
	}
	return e
}
