package main

import (
	"context"
	"io"
	"sync"

	"qrunner/locking"
)

// lazyLocker makes its Locker when somebody first wants a lock: readers and the pipe
// target need none, and must not fail because a lock service is down. An attempt
// that failed is made again by the next caller.
type lazyLocker struct {
	open func(context.Context) (locking.Operator, error)

	mu   sync.Mutex
	made locking.Operator
}

// get opens the locker, once. No lock is held meanwhile: of two that open at the same
// time the second's is closed again.
func (l *lazyLocker) get(ctx context.Context) (locking.Operator, error) {
	if op := l.opened(); op != nil {
		return op, nil
	}
	op, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil {
		closeLocker(op)
		return l.made, nil
	}
	l.made = op
	return op, nil
}

// opened is the locker if there is one.
func (l *lazyLocker) opened() locking.Operator {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

func closeLocker(op locking.Operator) {
	if c, ok := op.(io.Closer); ok {
		_ = c.Close() // the session ends by itself too
	}
}

// close ends a session, if there is one.
func (l *lazyLocker) close() {
	if op := l.opened(); op != nil {
		closeLocker(op)
	}
}

// Lock implements locking.Locker.
func (l *lazyLocker) Lock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	op, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return op.Lock(ctx, key, mode, opts...)
}

// TryLock implements locking.Locker.
func (l *lazyLocker) TryLock(ctx context.Context, key locking.Key, mode locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	op, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return op.TryLock(ctx, key, mode, opts...)
}
