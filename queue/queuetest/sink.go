package queuetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"qrunner/queue"
)

// SinkTLS says how a Sink does TLS.
type SinkTLS string

// The ways: not at all, after STARTTLS, from the first octet.
const (
	SinkNoTLS       SinkTLS = ""
	SinkStartTLS    SinkTLS = "starttls"
	SinkImplicitTLS SinkTLS = "implicit"
)

// Keep says what a Sink remembers of the mail that it took.
type Keep int

// What is kept: whole messages, who got which message, or numbers alone (memory then
// stays flat, whatever comes).
const (
	KeepMessages Keep = iota
	KeepCopies
	KeepCounts
)

// SinkConfig is what a Sink announces and does. The zero value takes all mail.
type SinkConfig struct {
	NoEHLO, NoPipelining, NoEightBit, NoUTF8 bool
	// XVERP announces Postfix's extension.
	XVERP bool
	// Size is announced and enforced; 0 announces SIZE without a limit.
	Size int
	// MaxRecipients of a transaction, the others get 452 4.5.3; 0 is no limit.
	MaxRecipients int
	TLS           SinkTLS
	// Users by name, with their passwords: nobody else may send.
	Users map[string]string
	// LoginOnly leaves AUTH PLAIN out.
	LoginOnly bool
	// Script decides step by step; nil does what the rest of the configuration says.
	// It is called by many goroutines.
	Script func(Step) Action
	Keep   Keep
}

// Sink is an SMTP server that keeps or counts what it gets: the smarthost of tests,
// benchmarks and the demo. It is strict: what a client does against the RFCs it notes
// as a violation. It serves TCP (Listen) and connections in memory (Dial), which also
// work inside a testing/synctest bubble.
type Sink struct {
	c    SinkConfig
	cert tls.Certificate
	pool *x509.CertPool

	conns, open, transactions, recipients, refused, octets atomic.Int64

	mu         sync.Mutex // never held while waiting
	closed     bool
	live       map[net.Conn]struct{}
	listener   net.Listener
	messages   []SinkMessage
	copies     map[Copy]int
	again      []Copy
	violations []string
	changed    chan struct{} // closed at the next delivery

	done chan struct{}
	wg   sync.WaitGroup
}

// NewSink makes a Sink. Close ends it.
func NewSink(c SinkConfig) (*Sink, error) {
	s := &Sink{c: c, live: map[net.Conn]struct{}{}, copies: map[Copy]int{}, changed: make(chan struct{}),
		done: make(chan struct{})}
	if c.TLS == SinkNoTLS {
		return s, nil
	}
	var err error
	if s.cert, s.pool, err = certificate(); err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	return s, nil
}

// RootCAs are who signed the sink's certificate, which is for "localhost" and
// 127.0.0.1; nil without TLS.
func (s *Sink) RootCAs() *x509.CertPool { return s.pool }

// Listen serves on a free port of 127.0.0.1, or on the given address, and returns
// where that is.
func (s *Sink) Listen(ctx context.Context, addr string) (string, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	s.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := s.start(conn); err != nil {
				conn.Close()
			}
		}
	})
	return l.Addr().String(), nil
}

// Dial is a connection in memory, for smtpout.Config.Dial; the address is not looked
// at. A Close scripted for the phase connect makes it fail.
func (s *Sink) Dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	if err := s.start(ours); err != nil {
		ours.Close()
		return nil, err
	}
	return theirs, nil
}

// start serves conn in a goroutine of its own.
func (s *Sink) start(conn net.Conn) error {
	n := int(s.conns.Add(1))
	if s.c.Script != nil && s.c.Script(Step{Conn: n, Phase: queue.PhaseConnect}).Close {
		return errors.New("connection refused")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("sink is closed")
	}
	s.live[conn] = struct{}{}
	s.open.Add(1)
	s.wg.Go(func() {
		newSinkSession(s, conn, n).serve()
		conn.Close()
		s.open.Add(-1)
		s.mu.Lock()
		delete(s.live, conn)
		s.mu.Unlock()
	})
	return nil
}

// Close ends the listener and all connections, and waits for them.
func (s *Sink) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	if s.listener != nil {
		s.listener.Close()
	}
	for conn := range s.live {
		conn.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}
