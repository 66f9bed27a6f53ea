package zklock

import (
	"context"
	"sync"
)

// watches are the nodes that waiters of this process watch, one watch for each node
// however many wait for it. The library cannot take a watch back, so one that nobody
// needs any more stays until its node changes, and serves the next who asks.
type watches struct {
	mu sync.Mutex // never held across a call of the library
	at map[string]*watch
}

type watch struct {
	set  chan struct{} // closed when the server has answered
	err  error         // why it could not be set; to be read after set
	done chan struct{} // closed when the node changed or went, or the connection did
}

// wait returns a channel that is closed when the node at path changes or goes, or the
// connection does. The error is zk.ErrNoNode if it is gone already.
func (w *watches) wait(ctx context.Context, s *session, path string) (<-chan struct{}, error) {
	w.mu.Lock()
	one := w.at[path]
	if one == nil {
		one = &watch{set: make(chan struct{}), done: make(chan struct{})}
		if !s.spawn(func() { w.run(s, path, one) }) {
			w.mu.Unlock()
			return nil, ErrClosed
		}
		w.at[path] = one
	}
	w.mu.Unlock()
	select {
	case <-one.set:
		return one.done, one.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run is a watch's goroutine. GetW and not ExistsW: a watch for a node that is gone
// would never end.
func (w *watches) run(s *session, path string, one *watch) {
	s.watch(path, func(err error) {
		one.err = err
		close(one.set)
	})
	w.mu.Lock()
	delete(w.at, path)
	w.mu.Unlock()
	close(one.done)
}
