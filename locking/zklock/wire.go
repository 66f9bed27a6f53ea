package zklock

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// wire is a connection to a server, which makes up for what the library does not do.
//
// It reads along in the server's first answer for the timeout that the session really
// has, and cuts the time that the library would wait for that answer, which is more
// than six session timeouts.
//
// After a reconnection it lets no answer through before the library has sent the
// watches that it wants to have again: until then the library reads a number, the last
// change that it has seen, without a lock, and any answer writes it. See resets.
type wire struct {
	net.Conn
	s *session

	head []byte // of the packet that is being read: length, and what follows up to headLen
	left int    // of that packet, after the length
	late bool   // it is not the first packet

	auths   chan struct{} // a token for each authentication that was sent
	held    bool          // the first answer was held
	settled bool          // answers need not be held any more
	closed  chan struct{}
	once    sync.Once
}

// resets counts the packets that set watches again: those that the library must have
// made, less those that were sent. One that was made for a connection that failed at
// once is sent in the next.
type resets struct {
	mu   sync.Mutex
	due  int
	none chan struct{} // closed when due is 0; nil if nobody waits
}

// add changes the number, and returns a channel that is closed when it is 0; nil if it is.
func (r *resets) add(n int) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due += n
	switch {
	case r.due > 0 && r.none == nil:
		r.none = make(chan struct{})
	case r.due <= 0 && r.none != nil:
		close(r.none)
		r.none = nil
	}
	return r.none
}

// forget gives up waiting for those that do not come.
func (r *resets) forget() {
	r.mu.Lock()
	n := r.due
	r.mu.Unlock()
	r.add(-max(n, 0))
}

const (
	// headLen is how much of the first packet is looked at: length, protocol version,
	// timeout in milliseconds.
	headLen = 12
	// maxAuths is more than there are.
	maxAuths = 16
	// settle is how long watches are waited for that may not come, because the last
	// one has just fired.
	settle = time.Second

	opSetAuth    = 100
	opSetWatches = 101
)

func newWire(conn net.Conn, s *session) *wire {
	return &wire{Conn: conn, s: s, auths: make(chan struct{}, maxAuths), closed: make(chan struct{})}
}

// Read implements net.Conn. The library reads a packet's length and then the rest.
func (w *wire) Read(b []byte) (int, error) {
	if w.late && !w.settled && len(w.head) == 0 {
		w.hold()
	}
	n, err := w.Conn.Read(b)
	w.track(b[:n])
	return n, err
}

// track follows the packets.
func (w *wire) track(b []byte) {
	if missing := 4 - len(w.head); missing > 0 {
		k := min(missing, len(b))
		w.head, b = append(w.head, b[:k]...), b[k:]
		if len(w.head) < 4 {
			return
		}
		w.left = int(binary.BigEndian.Uint32(w.head))
	}
	w.head = append(w.head, b[:min(headLen-len(w.head), len(b))]...)
	w.left -= len(b)
	if w.left > 0 {
		return
	}
	if !w.late && len(w.head) == headLen {
		w.s.negotiated(time.Duration(int32(binary.BigEndian.Uint32(w.head[8:]))) * time.Millisecond)
	}
	w.head, w.late = w.head[:0], true
}

// hold waits until the next packet may be read.
func (w *wire) hold() {
	first := 0
	if !w.held && w.s.watching.Load() > 0 {
		first = 1
	}
	w.held = true
	none := w.s.resets.add(first)
	if none == nil {
		w.settled = true
		return
	}
	t := time.NewTimer(settle)
	defer t.Stop()
	select {
	case <-w.auths:
	case <-none:
		w.settled = true
	case <-w.closed:
	case <-t.C:
		w.settled = true
		w.s.resets.forget()
	}
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// Write implements net.Conn. The library hands the error of a write on to the caller of
// one request, who is to see a lost connection there like everybody else; by any other
// error the library would look into an answer that may still be coming.
func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err != nil {
		w.s.cfg.Log.Debug("write to zookeeper", "err", err)
		return n, zk.ErrConnectionClosed
	}
	if len(b) >= headLen {
		switch binary.BigEndian.Uint32(b[8:]) {
		case opSetAuth:
			select {
			case w.auths <- struct{}{}:
			default:
			}
		case opSetWatches:
			w.s.resets.add(-1)
		}
	}
	return n, nil
}

// SetReadDeadline implements net.Conn.
func (w *wire) SetReadDeadline(t time.Time) error {
	limit := time.Now().Add(w.s.dialTime())
	if !w.late && (t.IsZero() || t.After(limit)) {
		t = limit
	}
	return w.Conn.SetReadDeadline(t)
}
