// Package locktest is the conformance suite that every locking.Locker must pass, and a
// recorder that checks a run's history against what a lock is.
//
// The suite runs in a testing/synctest bubble over simulated storage, and in real
// time against a server; Setup says which.
package locktest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
)

// Open makes, or returns, the Locker of one host of a lock space; hosts are numbered
// from 0. Every call for one number returns the same Locker.
type Open func(host int) locking.Locker

// Setup says how to run the suite.
type Setup struct {
	// New makes a fresh lock space for one test.
	New func(t *testing.T) Open
	// Bubble runs each test in a synctest bubble. What New starts must end by itself
	// or in a t.Cleanup.
	Bubble bool
	// Lifetime is how long a lease lasts without a refresh; some tests wait for it.
	Lifetime time.Duration
	// Takeover is the longest time until a waiter has the lock of a crashed host.
	Takeover time.Duration
	// Poll is a good time between two TryLocks.
	Poll time.Duration
	// Shared says that the back end has the shared mode.
	Shared bool
	// Only picks the checks to run by their names; nil for all.
	Only func(name string) bool
	// Parallel runs the checks beside each other; New must give each a space of its own.
	Parallel bool
}

// Crasher is a Locker whose host can be killed: from then on nothing of it reaches the
// storage. Without it the tests of crashes are skipped.
type Crasher interface{ Crash() }

// Cutter is a Locker whose host can be cut off from the storage, and joined again.
// Without it the tests of losses are skipped.
type Cutter interface {
	Cut()
	Heal()
}

// suite is one test's surroundings.
type suite struct {
	*testing.T
	Setup
	open Open
	ctx  context.Context
}

// Run runs the suite; each check is a subtest.
func Run(t *testing.T, s Setup) {
	checks := []struct {
		name string
		f    func(*suite)
	}{
		{"Exclusion", exclusion}, {"ExclusionByTry", exclusionByTry}, {"Try", try}, {"Timeout", timeout},
		{"Cancel", cancel}, {"CancelledBefore", cancelledBefore}, {"Refresh", refresh}, {"LossFirst", lossFirst},
		{"Crash", crash}, {"CrashByTry", crashByTry}, {"FIFO", fifo}, {"FIFOSkipsCancelled", fifoSkipsCancelled},
		{"Tokens", tokens}, {"FenceFails", fenceFails}, {"Released", released}, {"With", with},
		{"KeysAreApart", keysAreApart}, {"BadRequests", badRequests}, {"SharedMode", sharedMode},
	}
	for _, c := range checks {
		if s.Only != nil && !s.Only(c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			body := func(t *testing.T) {
				ctx, stop := context.WithCancel(context.Background())
				t.Cleanup(stop)
				c.f(&suite{T: t, Setup: s, open: s.New(t), ctx: ctx})
			}
			if s.Bubble {
				synctest.Test(t, body)
			} else {
				body(t)
			}
		})
	}
}

const key locking.Key = "list@example.org"

// lock gets the key or ends the test.
func (s *suite) lock(host int, opts ...locking.Option) locking.Lease {
	s.Helper()
	le, err := s.open(host).Lock(s.ctx, key, locking.Exclusive, opts...)
	if err != nil {
		s.Fatalf("lock by host %d: %v", host, err)
	}
	return le
}

// unlock gives a lease back or ends the test.
func (s *suite) unlock(le locking.Lease) {
	s.Helper()
	if err := le.Unlock(s.ctx); err != nil {
		s.Fatalf("unlock: %v", err)
	}
}

// within is ctx with the time that taking over a lock may need.
func (s *suite) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.Takeover)
}

// tryUntil calls TryLock until it succeeds or the take-over time is over.
func (s *suite) tryUntil(host int) locking.Lease {
	s.Helper()
	ctx, stop := s.within()
	defer stop()
	for ctx.Err() == nil {
		le, err := s.open(host).TryLock(ctx, key, locking.Exclusive)
		if err == nil {
			return le
		}
		if !errors.Is(err, locking.ErrHeld) && ctx.Err() == nil {
			s.Fatalf("try by host %d: %v", host, err)
		}
		time.Sleep(s.Poll)
	}
	s.Fatalf("host %d did not get the lock by trying for %v", host, s.Takeover)
	return nil
}

// counter is a Fencer that counts; all hosts share one.
type counter struct{ n atomic.Uint64 }

// Fence implements locking.Fencer.
func (c *counter) Fence(context.Context) (locking.Token, error) {
	return locking.Token(c.n.Add(1)), nil
}
