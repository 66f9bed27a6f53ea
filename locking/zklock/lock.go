package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// errRaced: the lock was won and gone again before it could be handed out.
var errRaced = errors.New("lock was lost before it was granted")

// Lock implements locking.Locker. A lifetime that is asked for is not used: the leases
// of a process live as long as its session.
func (l *Locker) Lock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return l.acquire(ctx, key, mode, opts, (*attempt).wait)
}

// TryLock implements locking.Locker. If somebody is in the way it writes nothing. It
// waits for an answer of the ensemble for a third of the session timeout at most.
func (l *Locker) TryLock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.SessionTimeout/3, ErrNoAnswer)
	defer cancel()
	return l.acquire(ctx, key, mode, opts, (*attempt).once)
}

// acquire contends for a lock by f. Waiting makes the keeper work, so that a waiter's
// session is known to live when its turn comes.
func (l *Locker) acquire(ctx context.Context, key locking.Key, mode locking.Mode, opts []locking.Option,
	f func(*attempt, context.Context) (*Lease, error),
) (locking.Lease, error) {
	a, err := l.attempt(key, mode, opts)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %s: %w", key, context.Cause(ctx))
	}
	l.s.join()
	defer l.s.leave()
	le, err := f(a, ctx)
	if err != nil {
		a.abandon(nil)
		if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = context.Cause(ctx)
		}
		var held *locking.HeldError
		if errors.As(err, &held) {
			return nil, held
		}
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return le, nil
}

// wait queues up, and queues up again if our node or our session goes in the middle.
func (a *attempt) wait(ctx context.Context) (*Lease, error) {
	for {
		err := a.enter(ctx)
		if err == nil {
			err = a.turn(ctx)
		}
		var le *Lease
		if err == nil {
			le, err = a.grant(ctx)
		}
		if !errors.Is(err, errRaced) {
			return le, err
		}
		a.abandon(nil)
	}
}

// turn waits until nobody is before us. errRaced: our node is gone.
func (a *attempt) turn(ctx context.Context) error {
	s := a.l.s
	for {
		epoch, _ := s.now()
		pred, wait, err := a.ahead(ctx)
		if err != nil || !wait {
			return err
		}
		gone, err := a.l.watches.wait(ctx, s, join(a.dir, pred.name))
		switch {
		case errors.Is(err, zk.ErrNoNode) || passes(err) && s.life.Err() == nil:
			continue
		case err != nil:
			return fmt.Errorf("watch node %s: %w", pred.name, err)
		}
		if err := a.sit(ctx, epoch, gone); err != nil {
			return err
		}
	}
}

// ahead lists the contenders and says for whom we have to wait.
func (a *attempt) ahead(ctx context.Context) (pred node, wait bool, err error) {
	names, err := persist(ctx, a.l.s, children(a.dir))
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return pred, false, fmt.Errorf("list node: %w", err)
	}
	pred, wait, listed := predecessor(names, a.own)
	if !listed || a.l.s.conn.SessionID() != a.session {
		return pred, false, errRaced
	}
	return pred, wait, nil
}

// sit waits until the node before us goes, or we are connected anew: then the list has
// to be read again, whatever became of the watch.
func (a *attempt) sit(ctx context.Context, epoch int, gone <-chan struct{}) error {
	s := a.l.s
	for {
		now, changed := s.now()
		if now != epoch {
			return nil
		}
		select {
		case <-gone:
			a.l.counted(func(s *Stats) { s.Wakes++ })
			return nil
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.life.Done():
			return context.Cause(s.life)
		}
	}
}

// once gets the lock if it is free now. It lists before it writes anything.
func (a *attempt) once(ctx context.Context) (*Lease, error) {
	names, err := persist(ctx, a.l.s, children(a.dir))
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, fmt.Errorf("list node: %w", err)
	}
	if first, held := inTheWay(names, a.mode); held {
		return nil, a.held(ctx, first)
	}
	if err := a.enter(ctx); err != nil {
		return nil, err
	}
	pred, wait, err := a.ahead(ctx)
	if err != nil {
		return nil, err
	}
	if wait {
		a.abandon(nil)
		return nil, a.held(ctx, pred)
	}
	return a.grant(ctx)
}

// inTheWay finds the first contender that a newcomer would have to wait for.
func inTheWay(names []string, mode locking.Mode) (node, bool) {
	for _, n := range contenders(names) {
		if excludes(n.mode, mode) {
			return n, true
		}
	}
	return node{}, false
}

// held makes the error that says who n is, as far as can be found out.
func (a *attempt) held(ctx context.Context, n node) error {
	err := &locking.HeldError{Key: a.key}
	if c, gerr := call(ctx, a.l.s, get(join(a.dir, n.name))); gerr == nil {
		err.By = holder(c.data, c.stat)
	}
	return err
}
