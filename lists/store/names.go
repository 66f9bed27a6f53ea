package store

import (
	"context"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/locking/site"
)

// listEvery is the least time from the beginning of one listing of the lists' folders to
// the next: whoever asks for unknown addresses by the thousand costs the share no more.
const listEvery = time.Second

// names is the last listing of the lists' folders, and the next.
type names struct {
	mu    sync.Mutex // never held across a call to the share
	ids   []lists.ID
	at    time.Time // when the listing that gave ids began
	began time.Time // when the last one began, whatever came of it
	next  *listing  // one that has not begun; nil: nobody waits
}

// listing is a look at the share that all share who asked before it began.
type listing struct {
	done chan struct{}
	ids  []lists.ID
	err  error // of the listing
	site error // of the marker that proves the share is mounted
}

// recent is the last listing, if it is young enough.
func (s *Store) recent() ([]lists.ID, bool) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return s.names.ids, !s.names.at.IsZero() && time.Since(s.names.at) < namesAge
}

// fresh is a listing that begins after the call. Others who ask meanwhile get the same.
func (s *Store) fresh(ctx context.Context) (*listing, error) {
	s.names.mu.Lock()
	l := s.names.next
	if l == nil {
		l = &listing{done: make(chan struct{})}
		s.names.next = l
		go s.survey(context.WithoutCancel(ctx), l, time.Until(s.names.began.Add(listEvery)))
	}
	s.names.mu.Unlock()
	select {
	case <-l.done:
		return l, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// survey waits for its turn and fills a listing in. From its beginning on, whoever asks
// gets another.
func (s *Store) survey(ctx context.Context, l *listing, wait time.Duration) {
	defer close(l.done)
	if wait > 0 {
		time.Sleep(wait)
	}
	at := time.Now()
	s.names.mu.Lock()
	s.names.next, s.names.began = nil, at
	s.names.mu.Unlock()
	if l.ids, l.err = s.folders(true); l.err != nil {
		return
	}
	_, l.site = site.Check(ctx, s.FS)
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	if s.names.at.Before(at) {
		s.names.ids, s.names.at = l.ids, at
	}
}
