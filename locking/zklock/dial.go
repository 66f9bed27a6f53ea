package zklock

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// dialTime is how long one server may take to accept us, and to answer.
func (s *session) dialTime() time.Duration { return max(s.cfg.SessionTimeout/3, time.Second) }

// dial is the library's dialer. Names are looked up each time. The library leaks the
// socket of a session that expired, so the one before is closed here.
func (s *session) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.life, s.dialTime())
	defer cancel()
	conn, err := s.open(ctx, network, addr)
	if err != nil {
		s.failed(addr, err)
		return nil, err
	}
	w := &wire{Conn: conn, s: s, in: bufio.NewReader(conn)}
	s.mu.Lock()
	old, over := s.wire, s.over
	w.again = old != nil
	if !over {
		s.wire = w
	}
	s.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	if over {
		_ = conn.Close()
		return nil, ErrClosed
	}
	return w, nil
}

// open makes a connection as it is configured.
func (s *session) open(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.cfg.Dial(ctx, network, addr)
	if err != nil || s.cfg.TLS == nil {
		return conn, err
	}
	return secure(ctx, conn, s.cfg.TLS, addr)
}

func secure(ctx context.Context, conn net.Conn, cfg *tls.Config, addr string) (net.Conn, error) {
	if cfg.ServerName == "" && !cfg.InsecureSkipVerify {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	t := tls.Client(conn, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}

// ring hands out the servers one after the other. Unlike the library's it looks up no
// names, and lets the first attempt after a lost connection start at once.
type ring struct {
	mu    sync.Mutex
	all   []string
	next  int
	tried int       // since the last connection
	since time.Time // of the last connection
	short int       // connections in a row that lasted for less than a second
}

// Init implements zk.HostProvider.
func (r *ring) Init(servers []string) error {
	r.all = servers
	return nil
}

// Len implements zk.HostProvider.
func (r *ring) Len() int { return len(r.all) }

// Next implements zk.HostProvider. The library pauses for a second when pause is true.
func (r *ring) Next() (server string, pause bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	server = r.all[r.next]
	r.next = (r.next + 1) % len(r.all)
	if r.tried == 0 && time.Since(r.since) < time.Second {
		r.short++
	} else if r.tried == 0 {
		r.short = 0
	}
	pause = r.tried == 0 && r.short > 1 || r.tried == len(r.all)
	if r.tried == len(r.all) {
		r.tried = 0
	}
	r.tried++
	return server, pause
}

// Connected implements zk.HostProvider.
func (r *ring) Connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried, r.since = 0, time.Now()
}
