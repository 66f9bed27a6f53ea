package zktest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// conn is a client's connection as the server has it. Packets are read as they come,
// handled one by one, and written by a goroutine of their own, so that nobody waits
// for a client that does not read.
type conn struct {
	e       *Ensemble
	link    *Link
	at      *server
	net     net.Conn
	session *session // guarded by Ensemble.mu, as is watches
	watches map[watch]bool

	ctx  context.Context // ends with the connection
	stop context.CancelFunc
	once sync.Once

	mu   sync.Mutex
	out  [][]byte
	more chan struct{} // one token: out has something
}

// watch is what a connection wants to hear of.
type watch struct {
	kind int32 // exists (created), data (dataChanged) or children (childrenChanged)
	path string
}

func (e *Ensemble) accept(l *Link, n int) (net.Conn, error) {
	client, srv := net.Pipe()
	c := &conn{e: e, link: l, at: e.servers[n], net: srv, watches: map[watch]bool{}, more: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	e.mu.Lock()
	if e.closed || c.at.refuses {
		e.mu.Unlock()
		c.stop()
		return nil, errRefused
	}
	c.at.conns[c] = true
	e.wg.Add(3)
	e.mu.Unlock()
	l.mu.Lock()
	l.open[c] = true
	l.mu.Unlock()
	in := make(chan []byte, 1024)
	go c.read(in)
	go c.handle(in)
	go c.write()
	return client, nil
}

// close ends the connection; it may be called often.
func (c *conn) close() {
	c.once.Do(func() {
		c.stop()
		_ = c.net.Close()
		c.e.mu.Lock()
		delete(c.at.conns, c)
		c.e.mu.Unlock()
		c.link.mu.Lock()
		delete(c.link.open, c)
		c.link.mu.Unlock()
	})
}

// maxPacket is what a packet may measure.
const maxPacket = 1 << 20

func (c *conn) read(in chan<- []byte) {
	defer c.e.wg.Done()
	defer close(in)
	for {
		var head [4]byte
		if _, err := io.ReadFull(c.net, head[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxPacket { // or a four-letter word
			c.close()
			return
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(c.net, b); err != nil {
			return
		}
		select {
		case in <- b:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *conn) handle(in <-chan []byte) {
	defer c.e.wg.Done()
	defer c.close()
	first := true
	for b := range in {
		if c.link.whole(c.ctx) != nil {
			return
		}
		ok := first && c.connect(&reader{b: b}) || !first && c.request(&reader{b: b})
		if !ok {
			return
		}
		first = false
	}
}

// send queues a packet.
func (c *conn) send(b []byte) {
	c.mu.Lock()
	c.out = append(c.out, frame(b))
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

func (c *conn) write() {
	defer c.e.wg.Done()
	for {
		select {
		case <-c.more:
		case <-c.ctx.Done():
			return
		}
		c.mu.Lock()
		out := c.out
		c.out = nil
		c.mu.Unlock()
		for _, b := range out {
			if c.link.whole(c.ctx) != nil {
				return
			}
			if _, err := c.net.Write(b); err != nil {
				return
			}
		}
	}
}

// notify tells the client of an event that it watches for; the Ensemble's mu is held.
func (c *conn) notify(ev event) {
	var kinds []int32
	switch ev.typ {
	case created:
		kinds = []int32{created}
	case deleted:
		kinds = []int32{created, dataChanged, childrenChanged}
	case dataChanged:
		kinds = []int32{created, dataChanged}
	case childrenChanged:
		kinds = []int32{childrenChanged}
	}
	hit := false
	for _, k := range kinds {
		w := watch{k, ev.path}
		hit = hit || c.watches[w]
		delete(c.watches, w)
	}
	if !hit {
		return
	}
	var w writer
	w.int32(-1)
	w.int64(-1)
	w.int32(0)
	w.int32(ev.typ)
	w.int32(3) // connected
	w.string(ev.path)
	c.send(w.b)
}
