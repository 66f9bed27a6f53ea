package lockfile

import (
	"context"
	"fmt"

	"qrunner/locking"
)

// verifyTries bounds how often trouble of the share may stand between a won lock and
// its grant.
const verifyTries = 3

// grant makes a lease of a lock that is won: fence, then verify, then hand out. If the
// lock was lost meanwhile it returns errRaced; on any error the lock is given back.
func (a *attempt) grant(ctx context.Context) (*Lease, error) {
	l := a.l
	le := a.hold(ctx)
	err := a.confirm(ctx, le)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	a.endBreak(err == nil)
	if err != nil {
		le.end(locking.ErrReleased)
		_, rerr := l.release(a.paths, a.claim)
		a.claim = nil
		if rerr != nil {
			l.cfg.Log.Warn("give back lock", "list", a.key, "err", rerr)
		}
		return nil, err
	}
	a.slot.granted()
	if a.slot.burst++; a.slot.burst == 1 {
		a.slot.first = l.cfg.Mono()
	}
	l.event(Event{Kind: EventGranted, Key: a.key, Token: le.Token(), Waited: l.cfg.Mono() - a.began})
	return le, nil
}

// confirm calls the Fencer and looks whether the lock is still ours. Nothing is asked
// of the share between the last look and the moment when the lease counts as handed
// out: a call that stalls there would let an old grant out after a newer one.
func (a *attempt) confirm(ctx context.Context, le *Lease) error {
	if fencer := a.opts.Fencer; fencer != nil {
		token, err := a.fence(ctx, le, fencer)
		if err != nil {
			return err
		}
		le.mu.Lock()
		le.token = token
		le.mu.Unlock()
	}
	s, err := a.verify(le, a.opts.Fencer != nil)
	if err == nil && s.owner {
		swept, cleared := a.l.sweep(a, s), a.clearBroken()
		if swept || cleared { // which may have taken long
			s, err = a.verify(le, true)
		}
	}
	if err == nil && (!s.owner || !le.granted()) {
		err = errRaced
	}
	return err
}

// verify applies the ownership rule, and stands some trouble of the share. Without
// touch, the claim's link was a change of our own just now, and its count is fresh.
func (a *attempt) verify(le *Lease, touch bool) (s standing, err error) {
	for range verifyTries {
		if touch {
			s, err = a.l.owns(a.paths, a.claim, false)
		} else {
			s, err = a.l.named(a.paths, a.claim, a.now, true)
		}
		if err == nil || !sleep(le.ctx, a.l.cfg.Base/10) {
			break
		}
	}
	return s, err
}

// fence runs the Fencer under the lease's context, and until ctx ends.
func (a *attempt) fence(ctx context.Context, le *Lease, f locking.Fencer) (locking.Token, error) {
	fctx, cancel := context.WithCancelCause(le.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	token, err := f.Fence(fctx)
	stop()
	cancel(nil)
	if err != nil {
		if le.ctx.Err() != nil && ctx.Err() == nil {
			return 0, errRaced
		}
		return 0, fmt.Errorf("fence: %w", err)
	}
	return token, nil
}

// endBreak ends a break, if there was one: it is told only if the grant stands.
func (a *attempt) endBreak(granted bool) {
	b := a.broke
	if b != nil && granted {
		a.l.cfg.Log.Info("lock was taken over", "list", a.key, "why", b.why,
			"from", fmt.Sprintf("%s pid %d", b.rec.Owner.Host, b.rec.Owner.PID))
		a.l.event(Event{Kind: EventBroken, Key: a.key, Reason: b.reason, From: b.holder()})
	}
	a.clearBroken() // of a grant that failed early
	a.broke = nil
}
