package locktest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"qrunner/locking"
)

func timeout(s *suite) {
	le := s.lock(0)
	ctx, stop := context.WithTimeout(s.ctx, 3*s.Poll)
	defer stop()
	if _, err := s.open(1).Lock(ctx, key, locking.Exclusive); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("wait for a held lock: %v, want DeadlineExceeded", err)
	}
	if err := le.Verify(s.ctx); err != nil {
		s.Errorf("the holder after another gave up: %v", err)
	}
	s.unlock(le)
	s.unlock(s.lock(2)) // the one who gave up must not stand in the way
}

// cancel ends waits at many moments, some of them just when the lock comes free.
func cancel(s *suite) {
	steps := 40
	for i := range steps {
		le := s.lock(0)
		ctx, stop := context.WithCancelCause(s.ctx)
		why := errors.New("no longer wanted")
		time.AfterFunc(2*s.Poll*time.Duration(i)/time.Duration(steps), func() { stop(why) })
		go func() {
			time.Sleep(s.Poll)
			_ = le.Unlock(s.ctx)
		}()
		got, err := s.open(1).Lock(ctx, key, locking.Exclusive)
		switch {
		case err == nil:
			s.unlock(got)
		case !errors.Is(err, why):
			s.Fatalf("cancelled wait %d: %v, want the cause", i, err)
		}
		<-le.Context().Done()
		s.unlock(s.tryUntil(2))
	}
}

func cancelledBefore(s *suite) {
	ctx, stop := context.WithCancel(s.ctx)
	stop()
	if _, err := s.open(0).Lock(ctx, key, locking.Exclusive); !errors.Is(err, context.Canceled) {
		s.Errorf("lock with an ended context: %v, want Canceled", err)
	}
	if _, err := s.open(0).TryLock(ctx, key, locking.Exclusive); !errors.Is(err, context.Canceled) {
		s.Errorf("try with an ended context: %v, want Canceled", err)
	}
	le := s.lock(1)
	if err := le.Verify(ctx); !errors.Is(err, context.Canceled) && err != nil {
		s.Errorf("verify with an ended context: %v, want nil or Canceled", err)
	}
	if le.Context().Err() != nil {
		s.Error("a lease must not end with its caller's context")
	}
	s.unlock(le)
}

func fifo(s *suite) {
	const waiters = 6
	le := s.lock(0)
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() {
			le := s.lock(0)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			s.unlock(le)
		})
		time.Sleep(s.Poll / 4) // so that they come in this order
	}
	s.unlock(le)
	wg.Wait()
	if !slices.IsSorted(order) || len(order) != waiters {
		s.Errorf("waiters of one process were served in order %v", order)
	}
}

func fifoSkipsCancelled(s *suite) {
	le := s.lock(0)
	ctx, stop := context.WithCancel(s.ctx)
	gone := make(chan error, 1)
	go func() {
		_, err := s.open(0).Lock(ctx, key, locking.Exclusive)
		gone <- err
	}()
	time.Sleep(s.Poll / 4)
	got := make(chan locking.Lease, 1)
	go func() { got <- s.lock(0) }()
	time.Sleep(s.Poll / 4)
	stop()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		s.Errorf("cancelled waiter: %v, want Canceled", err)
	}
	s.unlock(le)
	s.unlock(<-got)
}
