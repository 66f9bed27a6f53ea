package smtpout

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"qrunner/queue"
)

// ErrOpen is what a *queue.SiteError wraps while the breaker of every host is open.
var ErrOpen = errors.New("left alone after failures in a row")

// ErrClosed: the pool was closed.
var ErrClosed = errors.New("smarthost pool is closed")

// Pool is a queue.Transport: connections to one smarthost, or to the first of several
// that works. Any number of goroutines may use it.
type Pool struct {
	c      Config
	hosts  []*host
	slots  chan struct{} // one for each connection in use
	bodies bodies
	stats  counters
	xverp  atomic.Bool // the last connection offered it

	mu     sync.Mutex // of idle lists and closed; never held while waiting
	closed bool
}

var _ queue.Transport = (*Pool)(nil)

// New checks the configuration. It connects to nothing yet.
func New(c Config) (*Pool, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	addrs, err := c.addresses()
	if err != nil {
		return nil, err
	}
	p := &Pool{c: c, slots: make(chan struct{}, c.MaxConns), bodies: bodies{seed: maphash.MakeSeed()}}
	for _, a := range addrs {
		p.hosts = append(p.hosts, newHost(a, c.Breaker))
	}
	return p, nil
}

// MaxRecipients is how many recipients one transaction may have.
func (p *Pool) MaxRecipients() int { return p.c.MaxRecipients }

// XVERP implements queue.VERPTransport.
func (p *Pool) XVERP() bool { return p.c.XVERP && p.xverp.Load() }

// Acquire returns a connection that is ready for MAIL: an idle one, or a new one to
// the first host that works. It waits, first come first served, while MaxConns are in
// use. It fails with *queue.SiteError, at once if every breaker is open, with
// ErrClosed, or with the cause of ctx's end.
func (p *Pool) Acquire(ctx context.Context) (queue.Conn, error) {
	if wait := p.wait(); wait > 0 {
		return nil, errOpen(p.hosts[0].addr, wait)
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a smarthost connection: %w", context.Cause(ctx))
	}
	c, err := p.connect(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

// connect tries the hosts in order.
func (p *Pool) connect(ctx context.Context) (*Conn, error) {
	err := error(nil)
	for _, h := range p.hosts {
		probe, wait := h.breaker.try()
		if wait > 0 {
			continue
		}
		s, e := p.take(ctx, h)
		if e == nil {
			return &Conn{pool: p, s: s, probe: probe}, nil
		}
		if ctx.Err() != nil || errors.Is(e, ErrClosed) {
			h.breaker.abandon()
			return nil, fmt.Errorf("connect to smarthost: %w", e)
		}
		p.failed(h, probe)
		err = e
	}
	wait := p.wait()
	if err == nil {
		return nil, errOpen(p.hosts[0].addr, wait)
	}
	if site, ok := errors.AsType[*queue.SiteError](err); ok {
		site.RetryAfter = wait
	}
	return nil, err
}

// wait is how long every host is left alone; 0 if one may be tried.
func (p *Pool) wait() time.Duration {
	wait := p.hosts[0].breaker.wait()
	for _, h := range p.hosts[1:] {
		wait = min(wait, h.breaker.wait())
	}
	return wait
}

func errOpen(addr string, wait time.Duration) error {
	return &queue.SiteError{Host: addr, Phase: queue.PhaseConnect, Err: ErrOpen, RetryAfter: wait}
}

// take is an idle session of the host, or else a new one.
func (p *Pool) take(ctx context.Context, h *host) (*session, error) {
	p.mu.Lock()
	closed := p.closed
	s := pop(h)
	p.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case s != nil:
		p.stats.reused.Add(1)
		return s, nil
	}
	s, err := p.open(ctx, h)
	p.evict()
	return s, err
}

// evict ends an idle connection to another host if a new one made them too many.
func (p *Pool) evict() {
	if p.stats.open.Load() <= int64(p.c.MaxConns) {
		return
	}
	var s *session
	p.mu.Lock()
	for _, h := range slices.Backward(p.hosts) {
		if s = pop(h); s != nil {
			break
		}
	}
	p.mu.Unlock()
	if s != nil {
		p.quit(s)
	}
}

// pop takes the last used idle session. p.mu is held.
func pop(h *host) *session {
	n := len(h.idle)
	if n == 0 {
		return nil
	}
	s := h.idle[n-1]
	h.idle[n-1] = nil
	h.idle = h.idle[:n-1]
	s.idle.Stop()
	return s
}

// release keeps a session for others, or ends it.
func (p *Pool) release(s *session) {
	defer func() { <-p.slots }()
	switch {
	case s.gone:
		p.drop(s)
	case s.spent() || !p.park(s):
		p.quit(s)
	}
}

// park makes a session idle, for a while.
func (p *Pool) park(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	s.host.idle = append(s.host.idle, s)
	if s.idle == nil {
		s.idle = time.AfterFunc(p.c.IdleTime, func() { p.expire(s) })
	} else {
		s.idle.Reset(p.c.IdleTime)
	}
	return true
}

// expire ends a session that nobody wanted; somebody may just have taken it.
func (p *Pool) expire(s *session) {
	p.mu.Lock()
	i := slices.Index(s.host.idle, s)
	if i >= 0 {
		s.host.idle = slices.Delete(s.host.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		p.quit(s)
	}
}

// Close ends the idle connections and refuses new ones; those in use end when they
// are released.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var all []*session
	for _, h := range p.hosts {
		for s := pop(h); s != nil; s = pop(h) {
			all = append(all, s)
		}
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { p.quit(s) })
	}
	wg.Wait()
}
