package store

import (
	"sync"
	"time"

	"qrunner/lists"
)

// cacheRows bounds the members of all lists in the cache, counting each list as
// listRows more.
const (
	cacheRows = 5_000_000
	listRows  = 1_000
)

// cache keeps what this process knows of lists. The mutex is never held across a
// call to the share.
type cache struct {
	mu      sync.Mutex
	entries map[lists.ID]*entry
	clock   uint64 // counts uses
}

// entry is one list. Whoever loads its state holds turn meanwhile, so that a large
// list is not loaded twice at once.
type entry struct {
	turn  chan struct{}
	gen   generation
	state *State
	used  uint64
	seen  time.Time // when a fresh look last found the list, by this host's clock
}

func newCache() *cache { return &cache{entries: map[lists.ID]*entry{}} }

// with runs f on the entry of a list.
func (c *cache) with(id lists.ID, f func(e *entry)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[id]
	if e == nil {
		e = &entry{turn: make(chan struct{}, 1)}
		c.entries[id] = e
	}
	c.clock++
	e.used = c.clock
	f(e)
}

func (c *cache) turn(id lists.ID) (turn chan struct{}) {
	c.with(id, func(e *entry) { turn = e.turn })
	return turn
}

// generation is the last one known; with n > 0 only if it has that number.
func (c *cache) generation(id lists.ID, n uint64) (g generation, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[id]; e != nil {
		g = e.gen
	}
	return g, g.N > 0 && (n == 0 || g.N == n)
}

func (c *cache) setGeneration(g generation) {
	c.with(g.List, func(e *entry) {
		if g.N > e.gen.N {
			e.gen = g
		}
		if e.state != nil && e.state.incarnation != e.gen.Incarnation {
			e.state = nil
		}
	})
}

// forget makes the next user look at the share.
func (c *cache) forget(id lists.ID) {
	c.with(id, func(e *entry) { e.gen, e.state, e.seen = generation{}, nil, time.Time{} })
}

// looked notes that a fresh look has just found the list.
func (c *cache) looked(id lists.ID) {
	c.with(id, func(e *entry) { e.seen = time.Now() })
}

// found reports whether a fresh look found the list less than age ago.
func (c *cache) found(id lists.ID, age time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[id]
	return e != nil && !e.seen.IsZero() && time.Since(e.seen) < age
}

// state is the newest one known of that incarnation, or nil.
func (c *cache) state(g generation) (out *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[g.List]
	if e == nil || e.state == nil || e.state.incarnation != g.Incarnation {
		return nil
	}
	return e.state
}

// setState keeps the newer one of s and what is there.
func (c *cache) setState(s *State) {
	c.with(s.id, func(e *entry) {
		if e.gen.Incarnation != s.incarnation {
			return
		}
		if e.state == nil || e.state.version < s.version {
			e.state = s
		}
	})
	c.shrink()
}

// shrink forgets the states that were not used for the longest time.
func (c *cache) shrink() {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := 0
	for _, e := range c.entries {
		rows += e.rows()
	}
	for rows > cacheRows {
		var oldest *entry
		for _, e := range c.entries {
			if e.rows() > 0 && e.used < c.clock && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			return
		}
		rows -= oldest.rows()
		oldest.state = nil
	}
}

func (e *entry) rows() int {
	if e.state == nil {
		return 0
	}
	return listRows + e.state.roster.len()
}
