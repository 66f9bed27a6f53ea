package intake

import (
	"net"
	"sync"
	"time"
)

// gate is a listener whose connections are counted, known and drained.
type gate struct {
	net.Listener
	door   *door
	limits Limits

	mu     sync.Mutex
	conns  map[*conn]bool
	closed bool
	empty  chan struct{} // closed when closed is set and the last connection has gone
}

func newGate(l net.Listener, d *door) *gate {
	return &gate{Listener: l, door: d, limits: d.limits, conns: make(map[*conn]bool), empty: make(chan struct{})}
}

// Accept returns the next connection that is let in; others are told 421.
func (g *gate) Accept() (net.Conn, error) {
	for {
		nc, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := clientOf(nc)
		if g.door.enter(client) {
			return g.add(nc, client)
		}
		nc.SetWriteDeadline(time.Now().Add(time.Second))
		nc.Write([]byte("421 4.7.0 too many connections, try again later\r\n"))
		nc.Close()
	}
}

func (g *gate) add(nc net.Conn, client string) (net.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.door.leave(client)
		nc.Close()
		return nil, net.ErrClosed
	}
	c := newConn(nc, client, g)
	g.conns[c] = true
	return c, nil
}

// remove forgets a connection; asking twice does no harm.
func (g *gate) remove(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.conns[c] {
		return
	}
	delete(g.conns, c)
	if g.closed && len(g.conns) == 0 {
		close(g.empty)
	}
}

// stop lets nobody in any more and has every connection told 421 at its next
// command. It returns what is closed when the last one has gone.
func (g *gate) stop() <-chan struct{} {
	g.Listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed = true
		if len(g.conns) == 0 {
			close(g.empty)
		}
	}
	for c := range g.conns {
		c.stop()
	}
	return g.empty
}

// cut closes the connections that are left and says how many there were.
func (g *gate) cut() int {
	g.mu.Lock()
	left := make([]*conn, 0, len(g.conns))
	for c := range g.conns {
		left = append(left, c)
	}
	g.mu.Unlock()
	for _, c := range left {
		c.Close()
	}
	return len(left)
}
