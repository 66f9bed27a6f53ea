package zktest

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Link is the network between one client and the servers.
type Link struct {
	e *Ensemble

	mu   sync.Mutex
	cut  bool
	heal chan struct{} // closed when whole
	open map[*conn]bool
}

// Link makes a Link.
func (e *Ensemble) Link() *Link {
	l := &Link{e: e, heal: make(chan struct{}), open: map[*conn]bool{}}
	close(l.heal)
	return l
}

var errRefused = errors.New("zktest: connection refused")

// Dial connects to one of the Addrs; on a cut link it waits.
func (l *Link) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := l.whole(ctx); err != nil {
		return nil, err
	}
	for n, a := range l.e.Addrs() {
		if a == addr {
			return l.e.accept(l, n)
		}
	}
	return nil, errRefused
}

// Cut stops everything on the link; nobody is told. Heal lets it go on, with what
// was on its way.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.cut, l.heal = true, make(chan struct{})
	}
}

// Heal ends a Cut.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		l.cut = false
		close(l.heal)
	}
}

// Drop breaks the connections of the link, as a firewall that resets them.
func (l *Link) Drop() {
	l.mu.Lock()
	var open []*conn
	for c := range l.open {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		c.close()
	}
}

// whole waits until the link is not cut.
func (l *Link) whole(ctx context.Context) error {
	for {
		l.mu.Lock()
		cut, heal := l.cut, l.heal
		l.mu.Unlock()
		if !cut {
			return nil
		}
		select {
		case <-heal:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
