package zklock

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"qrunner/locking/hosts"
	"qrunner/locking/zklock/zkreal"
)

// realTimeout is the session timeout of tests that wait for sessions to end. Others have
// zkreal.LongSession, which no load of the machine ends.
const realTimeout = 12 * zkreal.Tick

// ensemble is real servers.
type ensemble struct{ *zkreal.Ensemble }

func startEnsemble(t testing.TB, n int, flags ...string) ensemble {
	return ensemble{zkreal.Start(t, n, flags...)}
}

// config is how host n gets to the ensemble.
func (e ensemble) config(root string, n int) Config {
	return Config{
		Servers: e.Addrs(), Root: root, SessionTimeout: zkreal.LongSession, ConnectTimeout: 2 * time.Minute,
		Host: hosts.Identity{Host: fmt.Sprintf("h%d", n), PID: os.Getpid()},
	}
}

// mortal is config with a session that ends soon after its client.
func (e ensemble) mortal(root string, n int) Config {
	c := e.config(root, n)
	c.SessionTimeout = realTimeout
	return c
}

func open(t testing.TB, cfg Config) *Locker {
	t.Helper()
	l, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// cable is a network connection that can be cut.
type cable struct {
	*Locker
	mu   sync.Mutex
	heal chan struct{} // closed when whole
}

func openCable(t testing.TB, cfg Config) *cable {
	c := &cable{heal: make(chan struct{})}
	close(c.heal)
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case <-c.whole():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &strand{Conn: conn, c: c, gone: make(chan struct{})}, nil
	}
	c.Locker = open(t, cfg)
	t.Cleanup(c.Heal)
	return c
}

func (c *cable) whole() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heal
}

func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heal = make(chan struct{})
}

func (c *cable) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.heal:
	default:
		close(c.heal)
	}
}

// Crash is a Cut for good.
func (c *cable) Crash() { c.Cut() }

// strand is one connection through the cable.
type strand struct {
	net.Conn
	c    *cable
	gone chan struct{}
	once sync.Once
}

func (s *strand) pass() {
	select {
	case <-s.c.whole():
	case <-s.gone:
	}
}

func (s *strand) Write(b []byte) (int, error) {
	s.pass()
	return s.Conn.Write(b)
}

func (s *strand) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.pass()
	return n, err
}

func (s *strand) Close() error {
	s.once.Do(func() { close(s.gone) })
	return s.Conn.Close()
}
