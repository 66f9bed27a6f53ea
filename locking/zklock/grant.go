package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// grant makes a lease of a lock that is won: fence, then verify, then hand out. If the
// lock was lost meanwhile it returns errRaced.
func (a *attempt) grant(ctx context.Context) (*Lease, error) {
	l := a.l
	le, err := a.hold(ctx)
	if err == nil {
		err = a.confirm(ctx, le)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && !le.granted() {
		err = errRaced
	}
	if err != nil {
		if le != nil {
			le.end(locking.ErrReleased)
		}
		return nil, err
	}
	a.guid = "" // the node is the lease's
	l.counted(func(s *Stats) {
		s.Grants++
		s.Waited += l.waitedSince(a.began)
	})
	return le, nil
}

// hold begins a lease, after making sure that the session lives.
func (a *attempt) hold(ctx context.Context) (*Lease, error) {
	l := a.l
	if !l.s.alive(a.session) {
		if err := l.verify(ctx, a.path(), a.session); err != nil {
			return nil, raced(err)
		}
	}
	le := &Lease{l: l, key: a.key, dir: a.dir, name: a.own.name, guid: a.guid, session: a.session}
	le.ctx, le.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.s.keepLease(le)
	return le, nil
}

// confirm calls the Fencer, and then looks whether the lock is still ours. Without one
// there is no need to: our node was in the list just now, and our session lives.
func (a *attempt) confirm(ctx context.Context, le *Lease) error {
	if a.opts.Fencer == nil {
		return nil
	}
	fctx, cancel := context.WithCancelCause(le.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	token, err := a.opts.Fencer.Fence(fctx)
	stop()
	cancel(nil)
	if err != nil {
		if le.ctx.Err() != nil && ctx.Err() == nil {
			return errRaced
		}
		return fmt.Errorf("fence: %w", err)
	}
	le.mu.Lock()
	le.token = token
	le.mu.Unlock()
	return raced(a.l.verify(ctx, le.path(), le.session))
}

// verify asks the ensemble whether a node of ours is there, in a session that lives. The
// error is locking.ErrLost if it certainly is not.
func (l *Locker) verify(ctx context.Context, path string, session int64) error {
	for try := 0; ; try++ {
		now, err := l.s.ready(ctx)
		if err == nil && now != session {
			err = locking.ErrLost
		}
		if err == nil {
			_, err = call(ctx, l.s, func(*zk.Conn) (struct{}, error) { return struct{}{}, l.s.prove(check(path)) })
		}
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return locking.ErrLost
		case err == nil && !l.s.alive(session):
			return locking.ErrLost
		case !passes(err):
			return err
		case l.s.life.Err() != nil:
			return context.Cause(l.s.life)
		}
		if try > 0 && !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

func raced(err error) error {
	if errors.Is(err, locking.ErrLost) {
		return errRaced
	}
	return err
}
