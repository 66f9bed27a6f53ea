package zklock

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// keeper is the part of a session that keeps leases alive, and ends them in time. Its
// fields are guarded by session.mu.
type keeper struct {
	leases  map[*Lease]struct{}
	users   int  // leases and waiters
	running bool // the keeper's goroutine is there

	proven   time.Duration // by Mono, when the last answered write was sent
	provenOf int64         // the session that it was sent in

	beating   bool          // a heartbeat is on its way
	beat      time.Duration // by Mono, when the last one was sent
	beatEpoch int           // in which connection
	kicked    *wire         // the connection that was given up for not answering
}

// The parts of a session timeout; the package comment says why.
const (
	leaseParts = 2  // a lease ends so long after the last proof
	beatParts  = 6  // a proof is tried so often, and waited for so long
	lookParts  = 24 // the clock is looked at so often: timers stand still in suspend
)

// lifetime is the session timeout that counts; the caller holds mu.
func (s *session) lifetime() time.Duration { return min(s.timeout, s.cfg.SessionTimeout) }

// deadline is when the leases of a session end; the caller holds mu.
func (s *session) deadline(id int64) time.Duration {
	if s.provenOf != id || id == 0 {
		return 0
	}
	return s.proven + s.lifetime()/leaseParts
}

// proved notes that a write was answered that was sent at t0 in session id. A lease whose
// deadline has passed unseen is lost all the same.
func (s *session) proved(id int64, t0 time.Duration) {
	now := s.cfg.Mono()
	var lost []*Lease
	s.mu.Lock()
	for le := range s.leases {
		if now >= s.deadline(le.session) {
			lost = append(lost, le)
		}
	}
	if s.provenOf != id || s.proven < t0 {
		s.provenOf, s.proven = id, t0
	}
	s.mu.Unlock()
	for _, le := range lost {
		le.lose("the ensemble did not answer in time")
	}
}

// alive reports whether the leases of session id stand.
func (s *session) alive(id int64) bool {
	now := s.cfg.Mono()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.SessionID() == id && now < s.deadline(id)
}

// prove sends a write and waits for the answer. It is for those who have the time; err
// is what the write answered.
func (s *session) prove(f func(*zk.Conn) (struct{}, error)) (err error) {
	id, t0 := s.conn.SessionID(), s.cfg.Mono()
	_, err = f(s.conn)
	if answered(err) && id != 0 && s.conn.SessionID() == id {
		s.proved(id, t0)
	}
	return err
}

// join makes sure that the keeper works, until leave.
func (s *session) join() {
	s.mu.Lock()
	s.users++
	start := !s.running
	s.running = true
	s.mu.Unlock()
	if start && !s.spawn(s.keep) {
		s.loseAll()
	}
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
}

// keep is the keeper's goroutine.
func (s *session) keep() {
	for {
		next, lost, ok := s.tend()
		for le, why := range lost {
			le.lose(why)
		}
		if !ok {
			return
		}
		_, changed := s.now()
		t := time.NewTimer(next)
		select {
		case <-t.C:
		case <-changed:
		case <-s.life.Done():
			s.loseAll()
			t.Stop()
			return
		}
		t.Stop()
	}
}

// tend looks at the clock: which leases are lost, whether a heartbeat is due, whether a
// server has been silent for too long. ok is false when there is nothing left to keep.
func (s *session) tend() (next time.Duration, lost map[*Lease]string, ok bool) {
	now, id := s.cfg.Mono(), s.conn.SessionID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		s.running = false
		return 0, nil, false
	}
	life := s.lifetime()
	next = life / lookParts
	for le := range s.leases {
		left := s.deadline(le.session) - now
		switch {
		case le.session != id:
			lost = with(lost, le, "its session has expired")
		case left <= 0:
			lost = with(lost, le, "the ensemble did not answer in time")
		default:
			next = min(next, left)
			le.watch()
		}
	}
	s.mayBeat(now, id)
	if w := s.wire; s.beating && s.up && s.beatEpoch == s.epoch && now-s.beat >= life/beatParts && w != s.kicked {
		s.kicked = w
		s.wg.Go(func() { _ = w.Close() }) // spawn would take mu
	}
	return next, lost, true
}

// mayBeat sends a heartbeat if one is due; the caller holds mu.
func (s *session) mayBeat(now time.Duration, id int64) {
	life := s.lifetime()
	due := s.provenOf != id || now-s.proven >= life/beatParts
	again := now-s.beat >= life/lookParts || s.beatEpoch != s.epoch
	if !s.up || s.beating || !due || !again || s.over {
		return
	}
	s.beating, s.beat, s.beatEpoch = true, now, s.epoch
	s.wg.Go(func() {
		err := s.prove(check(s.cfg.Root))
		if !answered(err) {
			s.cfg.Log.Debug("zookeeper heartbeat", "err", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.beating = false
		s.tell()
	})
}

// loseAll ends all leases, at close.
func (s *session) loseAll() {
	s.mu.Lock()
	var all []*Lease
	for le := range s.leases {
		all = append(all, le)
	}
	s.mu.Unlock()
	for _, le := range all {
		le.lose("the lock was closed")
	}
}

func with(m map[*Lease]string, le *Lease, why string) map[*Lease]string {
	if m == nil {
		m = map[*Lease]string{}
	}
	m[le] = why
	return m
}
