package simfs

import (
	"context"
	"sync/atomic"
	"time"

	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// Host is one machine's view of the share.
type Host struct {
	srv    *Server
	name   string
	raw    bool // the test's own view
	ctx    context.Context
	cancel context.CancelCauseFunc
	offset atomic.Int64 // of its clock

	// Under the server's mutex.
	crashed, paused, cut, muted bool
	attrs                       map[handle]*cachedAttr
	dirs                        map[handle]*cachedDir
	pages                       map[handle]cachedPages
	dirty                       map[handle][]extent
	open                        map[handle]int
	dead                        map[handle]bool       // folders removed from here
	sillies                     map[handle]sillyPlace // files unlinked here while open here
}

var _ fsys.FS = (*Host)(nil)

func newHost(s *Server, name string) *Host {
	h := &Host{srv: s, name: name}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.forgetAll()
	return h
}

func (h *Host) forgetAll() {
	h.attrs = map[handle]*cachedAttr{}
	h.dirs = map[handle]*cachedDir{}
	h.pages = map[handle]cachedPages{}
	h.dirty = map[handle][]extent{}
	h.open = map[handle]int{}
	h.dead = map[handle]bool{}
	h.sillies = map[handle]sillyPlace{}
}

// Name is the host's name.
func (h *Host) Name() string { return h.name }

// Context ends when the host crashes, with cause ErrCrashed. What runs on the host
// should run under it.
func (h *Host) Context() context.Context { return h.ctx }

// Clock is the host's opinion of the time of day.
func (h *Host) Clock() clock.Clock {
	return func() time.Time { return time.Now().Add(time.Duration(h.offset.Load())) }
}

// SetClock puts the host's clock off the true time by offset.
func (h *Host) SetClock(offset time.Duration) { h.offset.Store(int64(offset)) }

// Mono is the host's monotonic clock, which is always right.
func (h *Host) Mono() clock.Mono { return clock.Since(h.srv.start) }

// Pause makes every call of the host wait, those parked at the gate too, until
// Resume.
func (h *Host) Pause() { h.set(&h.paused, true) }

// Resume ends Pause.
func (h *Host) Resume() { h.set(&h.paused, false) }

// Partition cuts the host off the server until Heal: what its caches hold is
// answered, everything else hangs.
func (h *Host) Partition() { h.set(&h.cut, true) }

// Mute lets the host send but hear nothing until Heal: changing calls are done
// and hang. After Heal they are sent again, and a server that was restarted
// without its reply cache does them again.
func (h *Host) Mute() { h.set(&h.muted, true) }

// Heal ends Partition and Mute.
func (h *Host) Heal() {
	h.set(&h.cut, false)
	h.set(&h.muted, false)
}

func (h *Host) set(flag *bool, v bool) {
	h.srv.mu.Lock()
	defer h.srv.mu.Unlock()
	*flag = v
	h.srv.wake()
}

// Crash is a power cut of the host: what it had not sent is lost, its parked and
// later calls answer ErrCrashed, its Context ends. Server.Host gives the host after
// its next boot.
func (h *Host) Crash() {
	h.srv.mu.Lock()
	defer h.srv.mu.Unlock()
	h.srv.crash(h)
}

func (s *Server) crash(h *Host) {
	if h.crashed {
		return
	}
	h.crashed = true
	for f, n := range h.open {
		s.closed(f, n)
	}
	h.forgetAll()
	h.cancel(ErrCrashed)
	if s.gate != nil {
		s.gate.evict(h)
	}
	s.wake()
}

// reachable reports whether the host and the server hear each other.
func (h *Host) reachable() bool { return !h.cut && !h.muted && !h.srv.down }

// opened and closed count a file that a client has open, where the server is told.
func (s *Server) opened(f handle) {
	if s.stateful() {
		if n, err := s.get(f); err == nil {
			n.opens++
		}
	}
}

func (s *Server) closed(f handle, times int) {
	if n, err := s.get(f); err == nil && s.stateful() {
		n.opens = max(0, n.opens-times)
		s.release(n)
	}
}

func (s *Server) stateful() bool { return s.cfg.Version != V3 || s.cfg.Local }
