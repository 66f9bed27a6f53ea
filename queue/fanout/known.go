package fanout

import (
	"hash/fnv"
	"sync"
	"time"

	"qrunner/queue"
)

// known is what this host remembers of the fan-outs in out/, so that a look at one
// does not mean reading all its journals. Nothing is decided by it but what to try.
type known struct {
	mu      sync.Mutex // never held across a call on the share
	entries map[queue.ID]*entry
}

// entry is one fan-out. Guarded by known.mu.
type entry struct {
	count int // recipients; -1 before they were counted
	round int
	ended map[int]record    // ranges that are over for the round
	held  map[int]time.Time // ranges in other hands: not before
	busy  map[int]bool      // ranges that this host works on
	slips int               // troubles in a row
	vain  int               // claims withdrawn in a row
}

func (k *known) with(id queue.ID, f func(e *entry)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.entries[id]
	if e == nil {
		e = &entry{count: -1, ended: map[int]record{}, held: map[int]time.Time{}, busy: map[int]bool{}}
		k.entries[id] = e
	}
	f(e)
}

// keep forgets the entries that keep does not name.
func (k *known) keep(keep map[queue.ID]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, e := range k.entries {
		if !keep[id] && len(e.busy) == 0 {
			delete(k.entries, id)
		}
	}
}

// enter starts the memory of a round.
func (e *entry) enter(round int) {
	if e.round != round {
		e.round, e.ended, e.held = round, map[int]record{}, map[int]time.Time{}
	}
}

// candidate finds a range to try, of n, starting behind an offset of the host's own
// so that hosts spread out. all says that every range is over.
func (e *entry) candidate(n, offset int, now time.Time) (i int, ok, all bool) {
	for k := range n {
		i := (k + offset) % n
		if _, over := e.ended[i]; !over && !e.busy[i] && !now.Before(e.held[i]) {
			return i, true, false
		}
	}
	return 0, false, len(e.ended) == n
}

// offset is where a host starts in a fan-out of n ranges.
func offset(host string, id queue.ID, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(host + string(id)))
	return int(h.Sum32() % uint32(max(n, 1)))
}
