package zklock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// ErrClosed: the Locker was closed.
var ErrClosed = errors.New("zookeeper lock is closed")

// session is the one connection of a process, and what is known of the sessions that it
// has, one after the other. The methods may be called from any goroutine.
type session struct {
	cfg  *Config
	conn *zk.Conn
	life context.Context // ends at close, with cause ErrClosed
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // the goroutines that spawn started
	quit chan struct{}  // closed when the library's goroutine has ended

	watched watched

	mu      sync.Mutex    // never held across a call of the library
	over    bool          // spawn starts nothing more
	up      bool          // we have a session, and are connected
	epoch   int           // how often that began
	changed chan struct{} // closed and made anew at every change of the above
	wire    *wire
	failure error         // why a server could not be reached, the last time
	timeout time.Duration // as negotiated
	keeper
}

// connect starts a session; the library goes on trying until close.
func connect(cfg *Config) (*session, error) {
	s := &session{cfg: cfg, changed: make(chan struct{}), quit: make(chan struct{}), timeout: cfg.SessionTimeout}
	s.watched.at = map[string]int{}
	s.life, s.stop = context.WithCancelCause(context.Background())
	s.leases = map[*Lease]struct{}{}
	conn, events, err := zk.Connect(cfg.Servers, cfg.SessionTimeout, zk.WithDialer(s.dial),
		zk.WithHostProvider(&ring{}), zk.WithEventCallback(s.event), zk.WithLogger(logger{cfg.Log}),
		zk.WithLogInfo(false), zk.WithMaxConnBufferSize(256<<10))
	if err != nil {
		return nil, err
	}
	s.conn = conn
	go func() {
		for range events { // we have the callback
		}
		close(s.quit)
	}()
	return s, nil
}

// logger passes what the library says on, as details.
type logger struct{ *slog.Logger }

// Printf implements zk.Logger.
func (l logger) Printf(format string, a ...any) {
	l.Debug("zookeeper client: " + fmt.Sprintf(format, a...))
}

// event hears of the library's connection. It is called on the library's goroutines.
func (s *session) event(ev zk.Event) {
	if ev.Type != zk.EventSession {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = ev.State == zk.StateHasSession
	if s.up {
		s.epoch++
	}
	s.tell()
}

// tell wakes all who wait for a change; the caller holds mu.
func (s *session) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *session) negotiated(d time.Duration) {
	if d > 0 { // an expired session has none
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timeout = d
	}
}

func (s *session) failed(addr string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = fmt.Errorf("connect to %s: %w", addr, err)
}

// now is what a waiter looks at: how often we connected, and what ends when that changes.
func (s *session) now() (epoch int, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch, s.changed
}

// ready waits until there is a session and returns its number.
func (s *session) ready(ctx context.Context) (int64, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		s.mu.Lock()
		up, changed := s.up, s.changed
		s.mu.Unlock()
		if id := s.conn.SessionID(); up && id != 0 {
			return id, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-s.life.Done():
			return 0, context.Cause(s.life)
		}
	}
}

// watch waits for a node that is there to change or go, or for the connection to end. set
// is called when the watch is set, or why it could not be.
func (s *session) watch(path string, set func(error)) {
	s.watched.add(path, 1)
	defer s.watched.add(path, -1)
	_, _, events, err := s.conn.GetW(path)
	set(err)
	if err == nil {
		<-events
	}
}

// spawn runs f on a goroutine that close waits for. After close it does nothing.
func (s *session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.wg.Go(f)
	return true
}

// close ends the session, and with it all of its nodes, at once if a server is there to
// be told.
func (s *session) close() {
	s.stop(ErrClosed)
	s.mu.Lock()
	first := !s.over
	s.over = true
	s.mu.Unlock()
	if !first {
		<-s.quit
		return
	}
	s.conn.Close()
	s.mu.Lock()
	w := s.wire
	s.mu.Unlock()
	if w != nil {
		_ = w.Close()
	}
	<-s.quit
	s.wg.Wait()
}

// sleep waits for d, and reports whether ctx is still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
