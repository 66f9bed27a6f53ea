package smtpout

import (
	"context"
	"crypto/tls"
)

// host is one smarthost.
type host struct {
	addr    string
	breaker breaker
	tickets tls.ClientSessionCache
	idle    []*session // the last used comes last, and goes first
}

func newHost(addr string, b Breaker) *host {
	return &host{addr: addr, breaker: breaker{c: b}, tickets: tls.NewLRUClientSessionCache(2)}
}

// open makes a new session, and counts it.
func (p *Pool) open(ctx context.Context, h *host) (*session, error) {
	p.stats.open.Add(1)
	s, err := open(ctx, &p.c, h)
	if err != nil {
		p.stats.open.Add(-1)
		return nil, err
	}
	p.stats.opened.Add(1)
	p.xverp.Store(s.ext.xverp)
	p.c.Log.DebugContext(ctx, "connected to smarthost", "host", h.addr, "tls", s.tls)
	return s, nil
}

// drop closes a session that broke; again does no harm.
func (p *Pool) drop(s *session) {
	s.close()
	if !s.dropped {
		s.dropped = true
		p.stats.open.Add(-1)
	}
}

// quit ends a session that works.
func (p *Pool) quit(s *session) {
	s.link.quit()
	p.stats.open.Add(-1)
}

// worked: the host answered MAIL.
func (p *Pool) worked(h *host) {
	if h.breaker.ok() {
		p.c.Log.Info("smarthost works again", "host", h.addr)
	}
}

// failed: the host failed before it answered MAIL.
func (p *Pool) failed(h *host, probe bool) {
	p.stats.failures.Add(1)
	if pause := h.breaker.fail(probe); pause > 0 {
		p.c.Log.Warn("smarthost does not work, leaving it alone", "host", h.addr, "pause", pause)
	}
}
