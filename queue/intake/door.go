package intake

import (
	"net"
	"sync"
)

// door counts connections, LMTP and SMTP together.
type door struct {
	limits Limits
	mu     sync.Mutex
	total  int
	client map[string]int
}

func newDoor(l Limits) *door { return &door{limits: l, client: make(map[string]int)} }

// enter reports whether one more connection of client may come in. Clients without
// an address of their own (unix sockets) are bounded by the total only.
func (d *door) enter(client string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.total >= d.limits.Conns || client != "" && d.client[client] >= d.limits.ConnsPerClient {
		return false
	}
	d.total++
	if client != "" {
		d.client[client]++
	}
	return true
}

func (d *door) leave(client string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total--
	if d.client[client]--; d.client[client] <= 0 {
		delete(d.client, client)
	}
}

// clientOf is the client's IP address; empty for a unix socket.
func clientOf(nc net.Conn) string {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return host
}
