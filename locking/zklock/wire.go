package zklock

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// wire is a connection to a server, which makes up for what the library does not do. It
// reads whole packets.
//
// From the server's first answer it takes the timeout that the session really has, and
// it cuts the time that the library would wait for that answer, which is more than
// six session timeouts.
//
// When the connection ends it tells the library that all nodes have changed that it
// watches, so that it forgets the watches. Else it would set them again in the next
// connection, with a number that it reads while another goroutine may be writing it.
// Waiters list again anyway when they are connected anew. Nor must it hear of new
// watches before it has looked for old ones, which it does at once: so in a connection
// that is not the first, the first answer comes a little later.
type wire struct {
	net.Conn
	s     *session
	in    *bufio.Reader // a packet is mostly one read of the network, not two
	again bool          // it is not the first connection
	late  bool          // the first packet was read
	rest  []byte        // what is left of what was read
	end   error         // what comes after that
}

// settle is how much later the first answer of another connection is read.
const settle = 100 * time.Millisecond

// maxPacket is what a server may send: the names of some 20,000 contenders.
const maxPacket = 1 << 20

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if len(w.rest) == 0 && w.end == nil {
		if w.late && w.again {
			time.Sleep(settle)
			w.again = false
		}
		if w.rest, w.end = w.packet(); w.end != nil && w.late {
			w.rest = w.s.watched.events()
		}
	}
	if len(w.rest) == 0 {
		return 0, w.end
	}
	n := copy(b, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// packet reads one, its length in front.
func (w *wire) packet() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxPacket {
		return nil, zk.ErrConnectionClosed
	}
	b := append(head[:], make([]byte, n)...)
	if _, err := io.ReadFull(w.in, b[4:]); err != nil {
		return nil, err
	}
	if !w.late && n >= 8 { // protocol version, timeout in milliseconds
		w.s.negotiated(time.Duration(int32(binary.BigEndian.Uint32(b[8:]))) * time.Millisecond)
	}
	w.late = true
	return b, nil
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

// watched are the nodes that the library may watch, and how often.
type watched struct {
	mu sync.Mutex
	at map[string]int
}

func (w *watched) add(path string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at[path] += n; w.at[path] == 0 {
		delete(w.at, path)
	}
}

// events are the packets that say that they have changed.
func (w *watched) events() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []byte
	for path := range w.at {
		var p []byte
		for _, v := range []int32{-1, -1, -1, 0, int32(zk.EventNodeDataChanged), int32(zk.StateSyncConnected), int32(len(path))} {
			p = binary.BigEndian.AppendUint32(p, uint32(v)) // request number, change (64 bits), error, ...
		}
		p = append(p, path...)
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(p))), p...)
	}
	return out
}
