package lockfile

import (
	"time"

	"qrunner/locking"
)

// refresh is the keeper: it sets our own file's mtime, never makes or moves a name, and
// looks whether the lock is still ours. Trouble passes or the deadline does; it runs
// on a timer's goroutine, so that a call that hangs holds up nobody.
func (le *Lease) refresh() {
	t0 := le.l.cfg.Mono()
	s, err := le.l.owns(le.paths, le.claim, true)
	next := le.life / refreshes
	switch {
	case err != nil:
		next = min(le.l.cfg.Base, le.life/50)
		le.l.cfg.Log.Warn("refresh lock", "list", le.paths.key, "err", err)
	case !s.owner:
		le.lose("somebody else has it")
		return
	case !le.extend(t0):
		return
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	if le.ended == nil {
		le.keeper.Reset(next)
	}
}

// watch ends the lease at its deadline. It looks at the clock more often than it
// would have to, because timers stand still while the machine is suspended.
func (le *Lease) watch() {
	if !le.valid() {
		return
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	if le.ended == nil {
		le.watcher.Reset(max(min(le.deadline-le.l.cfg.Mono(), le.life/10), time.Millisecond))
	}
}

// valid reports whether the lease stands, and ends it if its deadline has passed.
func (le *Lease) valid() bool {
	le.mu.Lock()
	ok, late := le.ended == nil, le.l.cfg.Mono() >= le.deadline
	le.mu.Unlock()
	if ok && late {
		le.lose("it could not be refreshed in time")
	}
	return ok && !late
}

// granted marks the lease as handed out, unless it has ended already.
func (le *Lease) granted() bool {
	if !le.valid() {
		return false
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	le.out = le.ended == nil
	return le.out
}

// extend moves the deadline after a refresh whose first call began at t0. A deadline
// that has passed is never moved.
func (le *Lease) extend(t0 time.Duration) bool {
	if !le.valid() {
		return false
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	if d := t0 + le.life - le.life/margins; d > le.deadline {
		le.deadline = d
	}
	return le.ended == nil
}

// lose ends the lease for its holder.
func (le *Lease) lose(why string) {
	if le.end(locking.ErrLost) {
		le.l.cfg.Log.Warn("lock was lost", "list", le.paths.key, "lease", uint64(le.Token()), "why", why)
		le.mu.Lock()
		out := le.out
		le.mu.Unlock()
		if out {
			le.l.event(Event{Kind: EventLost, Key: le.paths.key, Token: le.Token()})
		}
	}
}

// end stops the lease's timers and its context, once.
func (le *Lease) end(cause error) bool {
	le.mu.Lock()
	first := le.ended == nil
	if first {
		le.ended = cause
		le.keeper.Stop()
		le.watcher.Stop()
	}
	le.mu.Unlock()
	if first {
		le.cancel(cause)
	}
	return first
}
