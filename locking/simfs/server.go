package simfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrCrashed is the answer to every call of a host that has crashed.
var ErrCrashed = errors.New("host has crashed")

// Server is the file server. Its methods may be called from any goroutine.
type Server struct {
	cfg   Config
	start time.Time

	mu      sync.Mutex // never held while a call waits for anything
	inodes  map[uint64]*inode
	root    *inode
	free    []uint64
	last    uint64
	gen     uint64
	offset  time.Duration // of the server's clock
	hosts   map[string]*Host
	calls   int
	boot    int
	down    bool
	changed chan struct{} // closed and replaced when a blocked call may go on
	coin    *rand.Rand
	faults  []*armed
	ghosts  []ghost
	pending []edits // directory changes that are not durable yet
	silly   int
	gate    *gate
}

// New starts a server with an empty root folder.
func New(cfg Config) *Server {
	cfg.defaults()
	s := &Server{
		cfg:     cfg,
		start:   time.Now(),
		inodes:  map[uint64]*inode{},
		hosts:   map[string]*Host{},
		changed: make(chan struct{}),
		coin:    rand.New(rand.NewPCG(cfg.Seed, 1)),
		last:    1,
	}
	s.root = s.alloc(fs.ModeDir | 0o770)
	s.Inject(cfg.Faults...)
	if cfg.Scheduler != nil {
		s.gate = newGate(s, cfg.Scheduler)
	}
	return s
}

// Host returns the view of the host with that name. After a crash it is a new
// one, booted with empty caches; the old one stays dead.
func (s *Server) Host(name string) *Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[name]
	if h == nil || h.crashed {
		h = newHost(s, name)
		s.hosts[name] = h
	}
	return h
}

// Observer returns a view for the test itself: it sees the server's truth, passes
// no gate, meets no faults and is in no trace.
func (s *Server) Observer() *Host {
	h := newHost(s, "observer")
	h.raw = true
	return h
}

// Calls counts the changing calls (RPCs) that hosts have made so far: a run
// with Config.CrashAt in 1..Calls() crashes at each of them in turn.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Now is the time by the server's clock.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.offset)
}

// SetClock puts the server's clock off the bubble's by offset; it may jump.
func (s *Server) SetClock(offset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset = offset
}

// stamp is a timestamp as the server writes it.
func (s *Server) stamp() time.Time {
	return time.Now().Add(s.offset).Round(0).Truncate(s.cfg.MtimeGrain)
}

// Stop takes the file service down: calls hang until Restart.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
}

// Restart takes the service down and up again. Data stays; the answers that the
// server remembers are kept only if replyCache is true.
func (s *Server) Restart(replyCache bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
	if !replyCache {
		s.boot++
	}
	s.wake()
}

// Close crashes every host, so that no call stays parked, and ends the gate.
func (s *Server) Close() {
	s.mu.Lock()
	for _, h := range s.hosts {
		s.crash(h)
	}
	s.mu.Unlock()
	if s.gate != nil {
		s.gate.close()
	}
}

// wake lets blocked calls look again whether they may go on.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
	if s.gate != nil {
		s.gate.poke()
	}
}
