package locktest

import (
	"context"
	"errors"
	"time"

	"qrunner/locking"
)

// refresh holds a lock for much longer than its lifetime while others wait.
func refresh(s *suite) {
	le := s.lock(0)
	ctx, stop := context.WithTimeout(s.ctx, 3*s.Lifetime)
	defer stop()
	if _, err := s.open(1).Lock(ctx, key, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("another host, over three lifetimes of a live holder: %v, want DeadlineExceeded", err)
	}
	if err := le.Verify(s.ctx); err != nil {
		s.Errorf("the holder after three lifetimes: %v", err)
	}
	if le.Context().Err() != nil {
		s.Errorf("the holder's context: %v", context.Cause(le.Context()))
	}
	s.unlock(le)
}

// lossFirst cuts the holder off: it must know of its loss before anyone has the lock,
// and must do no harm when it comes back.
func lossFirst(s *suite) {
	cut, ok := s.open(0).(Cutter)
	if !ok {
		s.Skip("this Locker cannot be cut off")
	}
	old := s.lock(0)
	time.Sleep(s.Lifetime) // refreshed meanwhile
	cut.Cut()
	ctx, stop := s.within()
	defer stop()
	le, err := s.open(1).Lock(ctx, key, locking.Exclusive)
	if err != nil {
		s.Fatalf("take the lock of a host that was cut off: %v", err)
	}
	if old.Context().Err() == nil {
		s.Error("a successor has the lock before its holder knows of the loss")
	}
	if cause := context.Cause(old.Context()); old.Context().Err() != nil && !errors.Is(cause, locking.ErrLost) {
		s.Errorf("cause of the loss: %v, want ErrLost", cause)
	}
	cut.Heal()
	time.Sleep(s.Poll)
	if err := old.Verify(s.ctx); !errors.Is(err, locking.ErrLost) {
		s.Errorf("verify after the loss: %v, want ErrLost", err)
	}
	if err := old.Unlock(s.ctx); !errors.Is(err, locking.ErrLost) {
		s.Errorf("unlock after the loss: %v, want ErrLost", err)
	}
	if err := le.Verify(s.ctx); err != nil {
		s.Errorf("the successor after its predecessor's unlock: %v", err)
	}
	if _, err := s.open(2).TryLock(s.ctx, key, locking.Exclusive); !errors.Is(err, locking.ErrHeld) {
		s.Errorf("try of the successor's lock: %v, want ErrHeld", err)
	}
	s.unlock(le)
}

func (s *suite) crash(host int) {
	s.Helper()
	c, ok := s.open(host).(Crasher)
	if !ok {
		s.Skip("this Locker cannot crash")
	}
	c.Crash()
}

func crash(s *suite) {
	s.lock(0)
	s.crash(0)
	start := time.Now()
	ctx, stop := s.within()
	defer stop()
	le, err := s.open(1).Lock(ctx, key, locking.Exclusive)
	if err != nil {
		s.Fatalf("take a crashed host's lock: %v", err)
	}
	s.Logf("taken over after %v", time.Since(start))
	s.unlock(le)
}

func crashByTry(s *suite) {
	s.lock(0)
	s.crash(0)
	start := time.Now()
	le := s.tryUntil(1)
	s.Logf("taken over after %v", time.Since(start))
	s.unlock(le)
}

func released(s *suite) {
	le := s.lock(0)
	if err := context.Cause(le.Context()); err != nil {
		s.Errorf("context of a held lease has ended: %v", err)
	}
	s.unlock(le)
	if err := context.Cause(le.Context()); !errors.Is(err, locking.ErrReleased) {
		s.Errorf("context after unlock: %v, want ErrReleased", err)
	}
	other := s.tryUntil(1)
	if err := le.Unlock(s.ctx); !errors.Is(err, locking.ErrReleased) {
		s.Errorf("second unlock: %v, want ErrReleased", err)
	}
	if err := le.Verify(s.ctx); err == nil {
		s.Error("verify after unlock: nil, want an error")
	}
	if err := other.Verify(s.ctx); err != nil {
		s.Errorf("the next holder after a second unlock: %v", err)
	}
	s.unlock(other)
}

func tokens(s *suite) {
	fence := &counter{}
	var last locking.Token
	for i := range 6 {
		le := s.tryOrLock(i%3, locking.WithFencer(fence))
		if le.Token() <= last {
			s.Errorf("token %d after %d", le.Token(), last)
		}
		last = le.Token()
		s.unlock(le)
	}
	le := s.lock(0)
	if le.Token() != 0 {
		s.Errorf("token %d without a Fencer, want 0", le.Token())
	}
	s.unlock(le)
}

func (s *suite) tryOrLock(host int, opts ...locking.Option) locking.Lease {
	if le, err := s.open(host).TryLock(s.ctx, key, locking.Exclusive, opts...); err == nil {
		return le
	}
	return s.lock(host, opts...)
}

// fenceFunc makes a Fencer of a function.
type fenceFunc func(context.Context) (locking.Token, error)

// Fence implements locking.Fencer.
func (f fenceFunc) Fence(ctx context.Context) (locking.Token, error) { return f(ctx) }

func fenceFails(s *suite) {
	bad := errors.New("no log")
	_, err := s.open(0).Lock(s.ctx, key, locking.Exclusive, locking.WithFencer(fenceFunc(
		func(context.Context) (locking.Token, error) { return 0, bad })))
	if !errors.Is(err, bad) {
		s.Errorf("lock whose fence fails: %v, want the fence's error", err)
	}
	ctx, stop := context.WithCancel(s.ctx)
	_, err = s.open(0).Lock(ctx, key, locking.Exclusive, locking.WithFencer(fenceFunc(
		func(fctx context.Context) (locking.Token, error) {
			stop()
			<-fctx.Done()
			return 0, context.Cause(fctx)
		})))
	if !errors.Is(err, context.Canceled) {
		s.Errorf("lock cancelled in its fence: %v, want Canceled", err)
	}
	s.unlock(s.tryUntil(1)) // nothing was left
}

func with(s *suite) {
	err := locking.With(s.ctx, s.open(0), key, locking.Exclusive, func(ctx context.Context) error {
		if _, err := s.open(1).TryLock(ctx, key, locking.Exclusive); !errors.Is(err, locking.ErrHeld) {
			s.Errorf("try inside With: %v, want ErrHeld", err)
		}
		return ctx.Err()
	})
	if err != nil {
		s.Errorf("With: %v", err)
	}
	s.unlock(s.tryUntil(1))
}
