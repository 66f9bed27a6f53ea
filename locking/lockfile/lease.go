package lockfile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"qrunner/locking"
)

// Lease is a lock file that is held now. It implements locking.Lease.
type Lease struct {
	l     *Locker
	paths paths
	slot  *slot
	leave func()
	claim *claim
	life  time.Duration

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex    // never held across a call on the share
	deadline time.Duration // by Mono; nobody may judge us expired before
	ended    error         // nil, ErrLost or ErrReleased
	unlocked bool
	token    locking.Token
	out      bool // handed out: before that a loss is nobody's
	keeper   *time.Timer
	watcher  *time.Timer
}

var _ locking.Lease = (*Lease)(nil)

// refreshes is how many refreshes there are in a lifetime; margins is how many times
// the margin, by which we stop before our lifetime is over, fits into it.
const (
	refreshes = 5
	margins   = 15
)

// hold begins a lease: from here on its deadline runs and its keeper works.
func (a *attempt) hold(ctx context.Context) *Lease {
	le := &Lease{l: a.l, paths: a.paths, slot: a.slot, leave: a.leave, claim: a.claim, life: a.opts.Lifetime}
	le.ctx, le.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	le.mu.Lock()
	defer le.mu.Unlock()
	le.deadline = a.t0 + le.life - le.life/margins
	le.keeper = time.AfterFunc(le.life/refreshes, le.refresh)
	le.watcher = time.AfterFunc(min(le.deadline-a.l.cfg.Mono(), le.life/10), le.watch)
	return le
}

// Key implements locking.Lease.
func (le *Lease) Key() locking.Key { return le.paths.key }

// Token implements locking.Lease.
func (le *Lease) Token() locking.Token {
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.token
}

// Context implements locking.Lease.
func (le *Lease) Context() context.Context { return le.ctx }

// Verify implements locking.Lease. It also refreshes the lease.
func (le *Lease) Verify(ctx context.Context) error {
	return le.ask(ctx, "verify", func() error {
		s, err := le.l.owns(le.paths, le.claim, false)
		if err == nil && !s.owner {
			err = locking.ErrLost
		}
		return err
	})
}

// Check is a cheaper Verify: our own file's links and the deadline, without the
// listing. It misses a lock that an operator took away while a process on the
// operator's host had it open.
func (le *Lease) Check(ctx context.Context) error {
	return le.ask(ctx, "check", func() error {
		links, _, err := le.l.touch(le.claim)
		if err == nil && links < 2 {
			err = locking.ErrLost
		}
		return err
	})
}

// ask runs f, which touches our claim, outside of the deadline.
func (le *Lease) ask(ctx context.Context, verb string, f func() error) error {
	t0 := le.l.cfg.Mono()
	if !le.valid() {
		return fmt.Errorf("%s lock %s: %w", verb, le.paths.key, context.Cause(le.ctx))
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-le.ctx.Done():
		err = context.Cause(le.ctx)
	}
	if err == nil && !le.extend(t0) {
		err = context.Cause(le.ctx)
	}
	if errors.Is(err, locking.ErrLost) {
		le.lose("it is no longer ours on the share")
	}
	if err != nil {
		return fmt.Errorf("%s lock %s: %w", verb, le.paths.key, err)
	}
	return nil
}

// Unlock implements locking.Lease.
func (le *Lease) Unlock(ctx context.Context) error {
	le.valid() // a deadline that passed unseen is a loss
	le.mu.Lock()
	was := le.ended
	if le.unlocked {
		le.mu.Unlock()
		return fmt.Errorf("unlock %s: %w", le.paths.key, locking.ErrReleased)
	}
	le.unlocked = true
	le.mu.Unlock()
	le.end(locking.ErrReleased)
	give := func() error {
		if was == nil && le.pass() {
			return nil
		}
		r, err := le.l.release(le.paths, le.claim)
		if was == nil && err == nil && !r.owner {
			was = locking.ErrLost
			le.l.event(Event{Kind: EventLost, Key: le.paths.key, Token: le.Token()})
		}
		le.l.event(Event{Kind: EventReleased, Key: le.paths.key, Token: le.Token()})
		le.l.handOver(le.slot, le.leave, r.foreign)
		return firstErr(was, err)
	}
	if err := le.await(ctx, give); err != nil {
		return fmt.Errorf("unlock %s: %w", le.paths.key, err)
	}
	return nil
}

// await does f; after the end of ctx it waits for it no longer than two sleeps.
func (le *Lease) await(ctx context.Context, f func() error) error {
	if !le.l.detached(ctx) {
		return f()
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(2 * le.l.cfg.Base)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return context.Cause(ctx)
	}
}
