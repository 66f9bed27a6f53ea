package lockfile

import (
	"context"
	"fmt"
	"time"

	"qrunner/locking"
)

// Lock implements locking.Locker. If a call on the share hangs when ctx ends, Lock
// hangs with it, unless Config.Detach is set.
func (l *Locker) Lock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	a, err := l.attempt(key, mode, opts)
	if err != nil {
		return nil, err
	}
	if err = a.enter(ctx); err != nil {
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return a.run(ctx, func() (*Lease, error) {
		if l.local != nil && !a.handed {
			a.leave = l.local.wait(ctx, offset(string(key)), l.cfg.LocalWait)
		}
		return a.wait(ctx)
	})
}

// TryLock implements locking.Locker. The first failed try and about every tenth after
// it examine the lock.
func (l *Locker) TryLock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	a, err := l.attempt(key, mode, opts)
	if err != nil {
		return nil, err
	}
	var in bool
	if a.slot, in = l.tryEnter(key); !in {
		return nil, &locking.HeldError{Key: key, By: locking.Holder{Host: l.cfg.Host.Host, PID: l.cfg.Host.PID}}
	}
	if !a.tryLocal() {
		held := &locking.HeldError{Key: key, By: locking.Holder{Host: l.cfg.Host.Host}}
		l.leave(a.slot)
		return nil, held
	}
	return a.run(ctx, func() (*Lease, error) { return a.once(ctx) })
}

// tryLocal passes the local gate. A gate that stays closed for LocalWait, because its
// holder is stopped perhaps, is gone round.
func (a *attempt) tryLocal() bool {
	l, m := a.l, &a.slot.memory
	if l.local == nil {
		return true
	}
	var open bool
	if a.leave, open = l.local.try(offset(string(a.key))); open {
		m.isShut = false
		return true
	}
	if !m.isShut {
		m.isShut, m.shut = true, l.cfg.Mono()
	}
	return l.cfg.Mono()-m.shut >= l.cfg.LocalWait
}

// detached reports whether calls on the share are made apart from their caller.
func (l *Locker) detached(ctx context.Context) bool { return l.cfg.Detach && ctx.Done() != nil }

// run does f, which ends soon after ctx does unless a call on the share hangs.
func (a *attempt) run(ctx context.Context, f func() (*Lease, error)) (locking.Lease, error) {
	if ctx.Err() != nil {
		a.abandon()
		return nil, fmt.Errorf("lock %s: %w", a.key, context.Cause(ctx))
	}
	type result struct {
		le  *Lease
		err error
	}
	finish := func(r result) (locking.Lease, error) {
		if r.err != nil {
			return nil, r.err
		}
		return r.le, nil
	}
	if !a.l.detached(ctx) {
		le, err := f()
		return finish(result{le, err})
	}
	done := make(chan result, 1)
	go func() {
		le, err := f()
		done <- result{le, err}
	}()
	select {
	case r := <-done:
		return finish(r)
	case <-ctx.Done():
	}
	t := time.NewTimer(2 * a.l.cfg.Base)
	defer t.Stop()
	select {
	case r := <-done:
		return finish(r)
	case <-t.C:
	}
	go func() {
		if r := <-done; r.le != nil {
			_ = r.le.Unlock(context.WithoutCancel(ctx))
		}
	}()
	return nil, fmt.Errorf("lock %s: a call on the share hangs: %w", a.key, context.Cause(ctx))
}
