package lockfile

import (
	"math/rand/v2"
	"time"

	"qrunner/locking"
)

// slot is what the Locker knows of one key. Its queue is the process's own FIFO: one
// goroutine at a time is at the share for a key, or holds it. All fields but the
// memory are guarded by Locker.mu; the memory belongs to whoever is inside.
type slot struct {
	busy  bool
	queue []*waiter     // who waits to come in, oldest first
	used  time.Duration // by Mono, when somebody last went
	memory
}

// memory outlives one call, so that a caller of TryLock alone takes over a dead
// holder's lock.
type memory struct {
	tries   int           // since the last grant
	phase   int           // which of every ExamineEvery tries examines
	seen    *sight        // the lock as last examined
	since   time.Duration // by Mono, since when we have seen it just so
	tickets map[int]watch // tickets of others for that incarnation, by k
	shut    time.Duration // by Mono, since when the local gate was found taken
	isShut  bool
	swept   time.Duration // by Mono, when its folder was last swept
	isSwept bool
	burst   int           // grants since we last let others go first
	first   time.Duration // by Mono, the first of them
	failed  time.Duration // by Mono, when an examination failed last
	isIll   bool          // one did
}

// calm is how long examinations must not have failed before it is news that one does.
const calm = time.Minute

// news notes a failed examination, and reports whether an episode of them begins: one is
// one line in the log.
func (m *memory) news(now time.Duration) bool {
	first := !m.isIll || now-m.failed > calm
	m.isIll, m.failed = true, now
	return first
}

// watch is a file of somebody else's that we keep an eye on.
type watch struct {
	ino   uint64
	mtime time.Time
	since time.Duration
}

// idleSlots is how many keys are remembered before the idle ones are looked for.
const idleSlots = 1024

// tryEnter takes the key's turn if nobody of this process has it.
func (l *Locker) tryEnter(key locking.Key) (*slot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slot(key)
	if s.busy {
		return nil, false
	}
	s.busy = true
	return s, true
}

// leave lets the next one in.
func (l *Locker) leave(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.used = l.cfg.Mono()
	if len(s.queue) == 0 {
		s.busy = false
		return
	}
	s.pop().let(nil)
}

// waiting reports whether anybody of this process is queued for the key.
func (l *Locker) waiting(s *slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(s.queue) > 0
}

// slot finds or makes the slot of key; the caller holds mu.
func (l *Locker) slot(key locking.Key) *slot {
	s := l.slots[key]
	if s == nil {
		if n := len(l.slots); n >= idleSlots && n&(n-1) == 0 {
			l.forget()
		}
		s = &slot{memory: newMemory(l.cfg.ExamineEvery, l.rand)}
		l.slots[key] = s
	}
	return s
}

// forget drops the slots that nobody used for long; the caller holds mu.
func (l *Locker) forget() {
	old := l.cfg.Mono() - max(2*l.cfg.Lifetime, l.cfg.SweepEvery)
	for key, s := range l.slots {
		if !s.busy && s.used < old {
			delete(l.slots, key)
		}
	}
}

func newMemory(every int, r *rand.Rand) memory {
	return memory{phase: r.IntN(every)}
}

// due reports whether the coming try is one that examines if it fails. A first TryLock
// does, to be able to say who holds the lock.
func (m *memory) due(every int, alone bool) bool {
	m.tries++
	return (m.tries+m.phase)%every == 0 || alone && m.tries == 1
}

// granted forgets what was seen of earlier holders.
func (m *memory) granted() {
	m.tries, m.seen, m.tickets, m.isShut = 0, nil, nil, false
}
