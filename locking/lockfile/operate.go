package lockfile

import (
	"context"
	"errors"
	"fmt"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// Break takes the lock of key away from a holder that is certainly gone, and gives it
// back at once. A lock whose lifetime is over only by the server's clock is watched
// first, for as long as ctx allows. A lock that is not stale is left alone:
// the error is then a *locking.HeldError. The Report says what was found before.
func (l *Locker) Break(ctx context.Context, key locking.Key) (locking.Report, error) {
	r, a, err := l.operate(ctx, key, nil)
	if err != nil {
		return r, err
	}
	for {
		le, pending, err := a.breakStale(ctx)
		switch {
		case le != nil:
			return r, le.Unlock(ctx)
		case err == nil && !pending:
			err = &locking.HeldError{Key: key, By: r.Holder}
		case err == nil && !sleep(ctx, l.jitter()):
			err = context.Cause(ctx)
		}
		if err != nil {
			a.abandon()
			return r, fmt.Errorf("break lock %s: %w", key, err)
		}
	}
}

// breakStale takes the lock if it is free or stale. pending: it may turn out stale.
func (a *attempt) breakStale(ctx context.Context) (le *Lease, pending bool, err error) {
	won, err := a.try(true)
	if err == nil && !won {
		s, v, oerr := a.observe()
		switch {
		case fsys.Gone(oerr):
			return nil, true, nil
		case oerr != nil:
			return nil, false, oerr
		case v.reason == NotStale:
			return nil, v.pending, nil
		}
		won, err = a.takeOver(s, v)
	}
	if err != nil || !won {
		return nil, true, err
	}
	le, err = a.grant(ctx)
	if errors.Is(err, errRaced) {
		err = nil
	}
	return le, true, err
}

// Steal takes the lock of key from whoever holds it, alive or not. It is for operators:
// the former holder learns of it at its next refresh or Verify, and until then only
// the fence keeps the two apart. If the lock changes hands in the middle, or
// another is closing it already, the answer is locking.ErrStealLost, for a second
// attempt would take it from somebody who has just got it rightly. A free lock is
// simply taken. The Report says what was found before.
func (l *Locker) Steal(ctx context.Context, key locking.Key, opts ...locking.Option) (locking.Lease, locking.Report, error) {
	r, a, err := l.operate(ctx, key, opts)
	if err != nil {
		return nil, r, err
	}
	le, err := a.steal(ctx)
	if err != nil {
		a.abandon()
		return nil, r, fmt.Errorf("steal lock %s: %w", key, err)
	}
	return le, r, nil
}

func (a *attempt) steal(ctx context.Context) (*Lease, error) {
	won, err := a.try(true)
	if err == nil && !won {
		s, lerr := a.l.look(a.lock())
		if fsys.Gone(lerr) {
			return nil, locking.ErrStealLost
		}
		if lerr != nil {
			return nil, lerr
		}
		won, err = a.takeOver(s, verdict{reason: Stolen, why: "an operator took it"})
	}
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, locking.ErrStealLost
	}
	le, err := a.grant(ctx)
	if errors.Is(err, errRaced) {
		err = locking.ErrStealLost
	}
	return le, err
}

// operate begins an operator's call: a report, and the key's turn in this process.
func (l *Locker) operate(ctx context.Context, key locking.Key, opts []locking.Option) (locking.Report, *attempt, error) {
	r, err := l.Inspect(ctx, key)
	if err != nil {
		return r, nil, err
	}
	a, err := l.attempt(key, locking.Exclusive, opts)
	if err != nil {
		return r, nil, err
	}
	var in bool
	if a.slot, in = l.tryEnter(key); !in {
		return r, nil, &locking.HeldError{Key: key, By: r.Holder}
	}
	return r, a, nil
}
