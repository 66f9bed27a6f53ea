package spool

import "sync"

// group lets callers that want the same folder synced at the same time share the
// syncs: each gets one that began after its call.
type group struct {
	mu      sync.Mutex // never held during a sync
	running *batch
	next    *batch // collects callers until running ends
}

type batch struct {
	done chan struct{}
	err  error
}

// do returns the answer of a run that began after do was called; runs do not
// overlap.
func (g *group) do(run func() error) error {
	g.mu.Lock()
	b, before := g.next, g.running
	lead := b == nil
	if lead {
		b = &batch{done: make(chan struct{})}
		g.next = b
	}
	g.mu.Unlock()
	if lead {
		if before != nil {
			<-before.done
		}
		g.mu.Lock()
		g.next, g.running = nil, b
		g.mu.Unlock()
		b.err = run()
		close(b.done)
	}
	<-b.done
	return b.err
}
