package locktest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"qrunner/locking"
)

// The crowd of the exclusion tests.
const (
	crowdHosts   = 3
	crowdPerHost = 2
	crowdGrants  = 8
)

// crowd lets clients of several hosts take turns, and checks that they do.
func crowd(s *suite, get func(l locking.Locker) (locking.Lease, error)) {
	h := NewHistory()
	var inside atomic.Int32
	var wg sync.WaitGroup
	for c := range crowdHosts * crowdPerHost {
		l := h.Wrap(s.open(c%crowdHosts), c)
		wg.Go(func() {
			for range crowdGrants {
				le, err := get(l)
				if err != nil {
					s.Errorf("client %d: %v", c, err)
					return
				}
				if n := inside.Add(1); n != 1 {
					s.Errorf("client %d: %d holders at once", c, n)
				}
				time.Sleep(s.Poll / 20)
				if err := le.Verify(s.ctx); err != nil {
					s.Errorf("client %d: %v", c, err)
				}
				inside.Add(-1)
				if err := le.Unlock(s.ctx); err != nil {
					s.Errorf("client %d: %v", c, err)
				}
			}
		})
	}
	wg.Wait()
	h.Check(s)
}

func exclusion(s *suite) {
	crowd(s, func(l locking.Locker) (locking.Lease, error) { return l.Lock(s.ctx, key, locking.Exclusive) })
}

func exclusionByTry(s *suite) {
	crowd(s, func(l locking.Locker) (locking.Lease, error) {
		for n := 1; ; n++ {
			le, err := l.TryLock(s.ctx, key, locking.Exclusive)
			if !errors.Is(err, locking.ErrHeld) {
				return le, err
			}
			time.Sleep(s.Poll + time.Duration(n%7)*s.Poll/10)
		}
	})
}

func try(s *suite) {
	le := s.lock(0)
	_, err := s.open(1).TryLock(s.ctx, key, locking.Exclusive)
	var held *locking.HeldError
	if !errors.As(err, &held) || !errors.Is(err, locking.ErrHeld) || held.Key != key {
		s.Errorf("try of a held lock by another host: %v, want a HeldError", err)
	}
	if _, err := s.open(0).TryLock(s.ctx, key, locking.Exclusive); !errors.Is(err, locking.ErrHeld) {
		s.Errorf("try of a held lock by the same host: %v, want ErrHeld", err)
	}
	if err := le.Verify(s.ctx); err != nil {
		s.Errorf("the holder after others tried: %v", err)
	}
	s.unlock(le)
	s.unlock(s.tryUntil(1))
}

func keysAreApart(s *suite) {
	s.unlock(s.lock(0)) // a folder or node that stays must not matter
	a := s.lock(0)
	for _, k := range []locking.Key{"other@example.org", "out/entry/0-1000", "out/entry/1000-2000", "out/other/0-1000"} {
		le, err := s.open(1).TryLock(s.ctx, k, locking.Exclusive)
		if err != nil {
			s.Fatalf("lock %s while %s is held: %v", k, key, err)
		}
		if le.Key() != k {
			s.Errorf("lease of %s says %s", k, le.Key())
		}
		if _, err := s.open(0).TryLock(s.ctx, k, locking.Exclusive); !errors.Is(err, locking.ErrHeld) {
			s.Errorf("lock %s by another host: %v, want ErrHeld", k, err)
		}
		defer s.unlock(le)
	}
	s.unlock(a)
}

func badRequests(s *suite) {
	for _, k := range []locking.Key{"", "a//b", "..", "a/../b", "a\nb"} {
		if le, err := s.open(0).Lock(s.ctx, k, locking.Exclusive); err == nil {
			s.Errorf("lock %q: granted, want an error", k)
			s.unlock(le)
		}
	}
	if _, err := s.open(0).TryLock(s.ctx, key, locking.Exclusive, locking.WithLifetime(-time.Second)); err == nil {
		s.Error("negative lifetime: granted, want an error")
	}
	s.unlock(s.lock(1))
}

func sharedMode(s *suite) {
	a, err := s.open(0).Lock(s.ctx, key, locking.Shared)
	if !s.Shared {
		if !errors.Is(err, locking.ErrModeUnsupported) {
			s.Errorf("shared lock: %v, want ErrModeUnsupported", err)
		}
		return
	}
	if err != nil {
		s.Fatal(err)
	}
	b, err := s.open(1).Lock(s.ctx, key, locking.Shared)
	if err != nil {
		s.Fatalf("second shared holder: %v", err)
	}
	if _, err := s.open(2).TryLock(s.ctx, key, locking.Exclusive); !errors.Is(err, locking.ErrHeld) {
		s.Errorf("exclusive among shared: %v, want ErrHeld", err)
	}
	s.unlock(a)
	s.unlock(b)
	x := s.lock(2)
	if _, err := s.open(0).TryLock(s.ctx, key, locking.Shared); !errors.Is(err, locking.ErrHeld) {
		s.Errorf("shared beside exclusive: %v, want ErrHeld", err)
	}
	s.unlock(x)
}
