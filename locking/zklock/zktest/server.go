package zktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is what an Ensemble is made of.
type Config struct {
	// Servers is how many there are (default 1); they go by the addresses "s0:1",
	// "s1:1" and so on.
	Servers int
	// MinTimeout and MaxTimeout bound what a session may ask for (defaults 4 s, 40 s).
	MinTimeout, MaxTimeout time.Duration
}

// Ensemble is the servers together. Close ends it.
type Ensemble struct {
	cfg Config

	mu       sync.Mutex // never held across I/O or a hook
	log      []change
	leader   *tree // every entry applied; decides what is in order
	servers  []*server
	sessions map[int64]*session
	lastID   int64
	hook     func(Request) Fate
	calls    map[string]int
	closed   bool
	done     chan struct{} // closed by Close
	wg       sync.WaitGroup
}

// server is one member as its clients see it.
type server struct {
	n       int
	tree    *tree
	lagging bool
	refuses bool
	conns   map[*conn]bool
}

type session struct {
	id      int64
	timeout time.Duration
	passwd  []byte
	timer   *time.Timer
	ended   bool
	at      *server // where its client connected last
}

// New starts an Ensemble. Inside a synctest bubble it belongs to the bubble.
func New(cfg Config) *Ensemble {
	cfg.Servers = max(cfg.Servers, 1)
	if cfg.MinTimeout == 0 {
		cfg.MinTimeout = 4 * time.Second
	}
	if cfg.MaxTimeout == 0 {
		cfg.MaxTimeout = 40 * time.Second
	}
	e := &Ensemble{cfg: cfg, leader: newTree(), sessions: map[int64]*session{}, calls: map[string]int{}, done: make(chan struct{})}
	for n := range cfg.Servers {
		e.servers = append(e.servers, &server{n: n, tree: newTree(), conns: map[*conn]bool{}})
	}
	return e
}

// Addrs are the servers' addresses, for a Link's Dial.
func (e *Ensemble) Addrs() []string {
	var out []string
	for n := range e.servers {
		out = append(out, fmt.Sprintf("s%d:1", n))
	}
	return out
}

// Close ends all connections and waits for what served them.
func (e *Ensemble) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.done)
	}
	for _, s := range e.sessions {
		s.timer.Stop()
	}
	open := e.conns(func(*conn) bool { return true })
	e.mu.Unlock()
	for _, c := range open {
		c.close()
	}
	e.wg.Wait()
}

// conns picks connections; the caller holds mu.
func (e *Ensemble) conns(f func(*conn) bool) []*conn {
	var out []*conn
	for _, s := range e.servers {
		for c := range s.conns {
			if f(c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// commit appends a change and lets the servers that keep up apply it; at one of them
// the client waits for it. The caller holds mu.
func (e *Ensemble) commit(at *server, f func(*tree, change) []event) int64 {
	c := change{zxid: int64(len(e.log) + 1), ctime: time.Now().UnixMilli(), apply: f}
	e.log = append(e.log, c)
	e.leader.applied++
	f(e.leader, c)
	for _, s := range e.servers {
		if s == at || !s.lagging {
			e.catchUp(s)
		}
	}
	return c.zxid
}

// catchUp replays the log at a server and tells its watchers; the caller holds mu.
func (e *Ensemble) catchUp(s *server) {
	for s.tree.applied < len(e.log) {
		c := e.log[s.tree.applied]
		s.tree.applied++
		for _, ev := range c.apply(s.tree, c) {
			for k := range s.conns {
				k.notify(ev)
			}
		}
	}
}

// Lag makes a server fall behind, or lets it catch up.
func (e *Ensemble) Lag(server int, on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.servers[server]
	s.lagging = on
	if !on {
		e.catchUp(s)
	}
}

// Refuse makes a server refuse new connections and drop those it has, or ends that.
func (e *Ensemble) Refuse(server int, on bool) {
	e.mu.Lock()
	e.servers[server].refuses = on
	open := e.conns(func(c *conn) bool { return on && c.at.n == server })
	e.mu.Unlock()
	for _, c := range open {
		c.close()
	}
}

// Expire ends a session, as the leader does when it has heard nothing for its timeout.
func (e *Ensemble) Expire(id int64) {
	e.mu.Lock()
	s := e.sessions[id]
	if s == nil || s.ended {
		e.mu.Unlock()
		return
	}
	s.ended = true
	s.timer.Stop()
	e.commit(nil, endSession(id))
	open := e.conns(func(c *conn) bool { return c.session == s })
	e.mu.Unlock()
	for _, c := range open {
		c.close()
	}
}

// Sessions are the living ones, in the order of their birth.
func (e *Ensemble) Sessions() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []int64
	for id, s := range e.sessions {
		if !s.ended {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Nodes are the paths of all nodes below a prefix, sorted, as the leader has them.
func (e *Ensemble) Nodes(prefix string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.leader.nodes)) {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

// Owners says of all nodes below a prefix whose they are and since which change.
func (e *Ensemble) Owners(prefix string) string {
	var out strings.Builder
	for _, name := range e.Nodes(prefix) {
		e.mu.Lock()
		if n := e.leader.nodes[name]; n != nil {
			fmt.Fprintf(&out, "%s: session %d, change %d\n", name, n.owner, n.czxid)
		}
		e.mu.Unlock()
	}
	return out.String()
}

// Create makes a node as somebody else would; session 0 makes it persistent.
func (e *Ensemble) Create(name string, data []byte, session int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	flags := int32(0)
	if session != 0 {
		flags = 1
	}
	_, f, code := e.leader.create(name, data, flags, session)
	if code != CodeOK {
		panic(fmt.Sprintf("zktest: create %s: code %d", name, code))
	}
	e.commit(nil, f)
}

// Delete removes a node as somebody else would.
func (e *Ensemble) Delete(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, code := e.leader.delete(name, -1)
	if code != CodeOK {
		panic(fmt.Sprintf("zktest: delete %s: code %d", name, code))
	}
	e.commit(nil, f)
}

// SetSequence sets the number of the next sequential child of a node.
func (e *Ensemble) SetSequence(name string, next int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.commit(nil, func(t *tree, _ change) []event {
		t.nodes[name].cversion = next
		return nil
	})
}

// Watches counts the watches that connected clients have set.
func (e *Ensemble) Watches() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, c := range e.conns(func(*conn) bool { return true }) {
		n += len(c.watches)
	}
	return n
}

// Calls counts the requests of one kind ("create", "getChildren2", ...) so far.
func (e *Ensemble) Calls(op string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls[op]
}
