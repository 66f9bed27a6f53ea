package runner

import (
	"math/rand/v2"
	"time"

	"qrunner/lists"
)

// Pauses after trouble with a list: doubled from the first to the longest.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// agenda says which list is next. It has one owner, the scheduler.
type agenda struct {
	waiting []lists.ID
	queued  map[lists.ID]bool
	busy    map[lists.ID]bool
	again   map[lists.ID]bool // woken while busy
	paused  map[lists.ID]pause
}

type pause struct {
	until time.Time
	span  time.Duration
	soft  bool // new work ends it
}

func newAgenda() *agenda {
	return &agenda{
		queued: map[lists.ID]bool{}, busy: map[lists.ID]bool{},
		again: map[lists.ID]bool{}, paused: map[lists.ID]pause{},
	}
}

// add puts a list at the end of the line, once.
func (a *agenda) add(id lists.ID) {
	if a.busy[id] {
		a.again[id] = true
		return
	}
	if !a.queued[id] {
		a.queued[id] = true
		a.waiting = append(a.waiting, id)
	}
}

// wake is add for new work: it ends a soft pause.
func (a *agenda) wake(id lists.ID) {
	if p := a.paused[id]; p.soft {
		p.until = time.Time{}
		a.paused[id] = p
	}
	a.add(id)
}

// addAll adds what a walk found, from a random start, so that hosts that walk at
// the same time spread out.
func (a *agenda) addAll(ids []lists.ID) {
	if len(ids) == 0 {
		return
	}
	start := rand.N(len(ids))
	for i := range ids {
		a.add(ids[(start+i)%len(ids)])
	}
}

// next is the first list in line that is not paused. Lists that are paused leave
// the line: the next walk brings them back.
func (a *agenda) next(now time.Time) (lists.ID, bool) {
	for len(a.waiting) > 0 {
		id := a.waiting[0]
		if now.Before(a.paused[id].until) {
			a.drop()
			continue
		}
		return id, true
	}
	return "", false
}

func (a *agenda) drop() {
	delete(a.queued, a.waiting[0])
	a.waiting = a.waiting[1:]
}

// start moves the first in line to the busy ones.
func (a *agenda) start(id lists.ID) {
	a.drop()
	a.busy[id] = true
}

// stop ends a turn; a list with more work goes to the end of the line.
func (a *agenda) stop(id lists.ID, more bool) {
	delete(a.busy, id)
	if more || a.again[id] {
		a.add(id)
	}
	delete(a.again, id)
}

// pause keeps a list out of the line for a while; first says that it was well
// before, so that one episode is one line in the log.
func (a *agenda) pause(id lists.ID, now time.Time, soft bool) (first bool, span time.Duration) {
	p, was := a.paused[id]
	p.soft = soft
	p.span = min(max(2*p.span, firstPause), maxPause)
	p.until = now.Add(p.span)
	a.paused[id] = p
	return !was, p.span
}

// clear ends an episode of trouble; it says whether there was one.
func (a *agenda) clear(id lists.ID) bool {
	_, was := a.paused[id]
	delete(a.paused, id)
	return was
}
