package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// Lease is a lock that is held now. It implements locking.Lease.
type Lease struct {
	l               *Locker
	key             locking.Key
	dir, name, guid string
	session         int64 // that the node belongs to
	guarded         bool  // by session.mu

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex // never held across a call of the library
	ended    error      // nil, ErrLost or ErrReleased
	unlocked bool
	out      bool // handed out: before that a loss is nobody's
	token    locking.Token
}

var _ locking.Lease = (*Lease)(nil)

func (le *Lease) path() string { return join(le.dir, le.name) }

// Key implements locking.Lease.
func (le *Lease) Key() locking.Key { return le.key }

// Token implements locking.Lease.
func (le *Lease) Token() locking.Token {
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.token
}

// Context implements locking.Lease.
func (le *Lease) Context() context.Context { return le.ctx }

// Verify implements locking.Lease, by a write that a majority of the servers agrees to.
func (le *Lease) Verify(ctx context.Context) error {
	err := context.Cause(ctx)
	switch {
	case !le.valid():
		err = context.Cause(le.ctx)
	case err == nil:
		vctx, cancel := context.WithCancelCause(ctx)
		stop := context.AfterFunc(le.ctx, func() { cancel(context.Cause(le.ctx)) })
		err = le.l.verify(vctx, le.path(), le.session)
		stop()
		cancel(nil)
	}
	if errors.Is(err, locking.ErrLost) {
		le.lose("its node is gone")
	}
	if err == nil && !le.valid() {
		err = context.Cause(le.ctx)
	}
	if err != nil {
		return fmt.Errorf("verify lock %s: %w", le.key, err)
	}
	return nil
}

// Unlock implements locking.Lease. It waits for the ensemble's answer for a sixth of the
// session timeout after the end of ctx, and for a whole one at most; after that the
// node is removed in the background, or goes with the session.
func (le *Lease) Unlock(ctx context.Context) error {
	le.valid() // a deadline that passed unseen is a loss
	le.mu.Lock()
	was, second := le.ended, le.unlocked
	le.unlocked = true
	le.mu.Unlock()
	if second {
		return fmt.Errorf("unlock %s: %w", le.key, locking.ErrReleased)
	}
	le.end(locking.ErrReleased)
	le.l.counted(func(s *Stats) { s.Releases++ })
	err := le.remove(ctx)
	if errors.Is(err, errGone) {
		err = nil
		if was == nil && le.l.s.conn.SessionID() == le.session { // nobody but a thief
			was = locking.ErrLost
			le.l.counted(func(s *Stats) { s.Losses++ })
		}
	}
	if was != nil {
		err = was
	}
	if err != nil {
		return fmt.Errorf("unlock %s: %w", le.key, err)
	}
	return nil
}

// remove removes the node, in the background if that takes long.
func (le *Lease) remove(ctx context.Context) error {
	o := orphan{dir: le.dir, guid: le.guid, name: le.name}
	if ctx.Done() == nil && le.l.s.alive(le.session) { // nobody stops it, and it will not take long
		if err := le.l.buryOnce(le.l.s.life, o); err == nil || errors.Is(err, errGone) {
			return err
		}
		o.doubt = true
	}
	return le.await(ctx, le.l.reap(o))
}

// await waits for the removal of the node.
func (le *Lease) await(ctx context.Context, done <-chan error) error {
	t := time.NewTimer(le.l.cfg.SessionTimeout)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	case <-t.C:
		return ErrNoAnswer
	}
	t.Reset(le.l.cfg.SessionTimeout / beatParts)
	select {
	case err := <-done:
		return err
	case <-t.C:
		return context.Cause(ctx)
	}
}

// keepLease puts a lease under the keeper's eyes until it ends.
func (s *session) keepLease(le *Lease) {
	s.mu.Lock()
	s.leases[le] = struct{}{}
	s.mu.Unlock()
	s.join()
}

// watch begins to guard the lease, once. The keeper does it at its first look, so that
// a lock that is held for a moment costs no watch; the caller holds session.mu.
func (le *Lease) watch() {
	if !le.guarded {
		le.guarded = true
		le.l.s.wg.Go(le.guard)
	}
}

// guard waits for the node to go while it is held, which is an operator's doing.
func (le *Lease) guard() {
	s := le.l.s
	for le.ctx.Err() == nil {
		_, err := s.ready(le.ctx)
		var gone <-chan struct{}
		if err == nil {
			gone, err = le.l.watches.wait(le.ctx, s, le.path())
		}
		switch {
		case errors.Is(err, zk.ErrNoNode):
			le.lose("its node is gone")
			return
		case err != nil && (!passes(err) || s.life.Err() != nil):
			return // the keeper sees to the rest
		case err != nil:
			continue
		}
		select {
		case <-gone:
		case <-le.ctx.Done():
		}
	}
}

// valid reports whether the lease stands, and ends it if its deadline has passed.
func (le *Lease) valid() bool {
	alive := le.l.s.alive(le.session)
	le.mu.Lock()
	ok := le.ended == nil
	le.mu.Unlock()
	if ok && !alive {
		le.lose("the ensemble did not answer in time")
	}
	return ok && alive
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

// lose ends the lease for its holder. The node is left to the holder's Unlock, but not
// for longer than the session might have lived without us.
func (le *Lease) lose(why string) {
	if !le.end(locking.ErrLost) {
		return
	}
	le.mu.Lock()
	out := le.out
	le.mu.Unlock()
	if !out {
		return
	}
	le.l.cfg.Log.Warn("lock was lost", "list", le.key, "lease", uint64(le.Token()), "why", why)
	le.l.counted(func(s *Stats) { s.Losses++ })
	le.l.reap(orphan{dir: le.dir, guid: le.guid, name: le.name, delay: le.l.cfg.SessionTimeout / leaseParts})
}

// end ends the lease's context, once.
func (le *Lease) end(cause error) bool {
	le.mu.Lock()
	first := le.ended == nil
	if first {
		le.ended = cause
	}
	le.mu.Unlock()
	if first {
		s := le.l.s
		s.mu.Lock()
		delete(s.leases, le)
		s.mu.Unlock()
		s.leave()
		le.cancel(cause)
	}
	return first
}
