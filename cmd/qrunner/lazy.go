package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"golang.org/x/sync/singleflight"

	"qrunner/locking"
	"qrunner/locking/zklock"
)

// lazyLocker makes its Locker when somebody first wants a lock: readers and the pipe
// target need none, and must not fail because a lock service is down. An attempt
// that failed is made again by the next caller.
type lazyLocker struct {
	open func(context.Context) (locking.Operator, error)

	flight singleflight.Group
	mu     sync.Mutex // never held while the locker is opened
	made   locking.Operator
}

// get opens the locker, once; who comes meanwhile waits for the same attempt. An attempt
// is not ended by ctx: it is bounded by itself, and others may need it.
func (l *lazyLocker) get(ctx context.Context) (locking.Operator, error) {
	if op := l.opened(); op != nil {
		return op, nil
	}
	done := l.flight.DoChan("", func() (any, error) {
		if op := l.opened(); op != nil {
			return op, nil
		}
		op, err := l.open(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.made = op
		return op, nil
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(locking.Operator), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// start opens the locker for a daemon. A lock service that does not answer keeps no mail
// out: what comes in is kept, and work on it begins when the service is there.
func (l *lazyLocker) start(ctx context.Context, log *slog.Logger) error {
	_, err := l.get(ctx)
	if errors.Is(err, zklock.ErrNoAnswer) && ctx.Err() == nil {
		log.Error("no lock service: mail is taken in, and waits", "err", err)
		return nil
	}
	return err
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
