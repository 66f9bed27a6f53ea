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
	s, err := a.confirm(ctx, le)
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
	l.sweep(a, s)
	l.event(Event{Kind: EventGranted, Key: a.key, Token: le.Token(), Waited: l.cfg.Mono() - a.began})
	return le, nil
}

// confirm calls the Fencer and looks whether the lock is still ours.
func (a *attempt) confirm(ctx context.Context, le *Lease) (s standing, err error) {
	fencer := a.opts.Fencer
	if fencer != nil {
		token, err := a.fence(ctx, le, fencer)
		if err != nil {
			return s, err
		}
		le.mu.Lock()
		le.token = token
		le.mu.Unlock()
	}
	for range verifyTries {
		if fencer == nil { // the link was a change of our own just now, its count is fresh
			s, err = a.l.named(a.paths, a.claim, a.now, true)
		} else {
			s, err = a.l.owns(a.paths, a.claim, false)
		}
		if err == nil || !sleep(le.ctx, a.l.cfg.Base/10) {
			break
		}
	}
	if err == nil && (!s.owner || !le.granted()) {
		err = errRaced
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
	a.clearBroken()
}
