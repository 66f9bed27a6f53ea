package fanout

import (
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/queue"
)

// agenda says whose turn it is. It has one owner, the scheduler. Lists take turns;
// within a list notices go first, then posts in the order of their commits, one
// after the other; a list's long post does not keep another list waiting.
type agenda struct {
	lines map[lists.ID]*line
	ring  []lists.ID // in the order of their turns
}

// line is what one list has in out/.
type line struct {
	notices, posts []queue.ID
	ranges         map[queue.ID]int       // of posts with more than one
	asleep         map[queue.ID]time.Time // not before
	working        map[queue.ID]int       // turns in progress, by entry
}

// look is what a walk found out about a list.
type look struct {
	list           lists.ID
	notices, posts []queue.ID       // each in order
	ranges         map[queue.ID]int // of posts with more than one
}

// turn is one piece of work: an entry of which one range may be claimed.
type turn struct {
	unit
	notice bool
}

func newAgenda() *agenda { return &agenda{lines: map[lists.ID]*line{}} }

// update takes over what a walk found. Lists that it did not find have nothing left.
func (a *agenda) update(found []look) {
	seen := make(map[lists.ID]bool, len(found))
	for _, f := range found {
		seen[f.list] = true
		l := a.lines[f.list]
		if l == nil {
			l = &line{asleep: map[queue.ID]time.Time{}, working: map[queue.ID]int{}}
			a.lines[f.list] = l
			a.ring = append(a.ring, f.list)
		}
		l.notices, l.posts, l.ranges = f.notices, f.posts, f.ranges
		for id := range l.asleep {
			if _, ok := slices.BinarySearch(l.posts, id); !ok && !slices.Contains(l.notices, id) {
				delete(l.asleep, id)
			}
		}
	}
	a.ring = slices.DeleteFunc(a.ring, func(id lists.ID) bool {
		if seen[id] {
			return false
		}
		l := a.lines[id]
		l.notices, l.posts = nil, nil
		if len(l.working) > 0 {
			return false
		}
		delete(a.lines, id)
		return true
	})
}

// next picks a turn and gives the list's place in the ring away. bulk allows posts;
// avoid is an entry to pass over if there is any other.
func (a *agenda) next(now time.Time, bulk bool, avoid queue.ID) (turn, bool) {
	for _, kind := range []bool{true, false} {
		if !kind && !bulk {
			break
		}
		for i, id := range a.ring {
			l := a.lines[id]
			if e, ok := l.pick(now, kind, avoid); ok {
				a.ring = append(slices.Delete(a.ring, i, i+1), id)
				l.working[e]++
				return turn{unit{id, e}, kind}, true
			}
		}
	}
	if avoid != "" {
		return a.next(now, bulk, "")
	}
	return turn{}, false
}

// pick finds the entry whose turn it is. A post waits until the ones before it are
// done or in other hosts' hands, so that this host keeps the order.
func (l *line) pick(now time.Time, notices bool, avoid queue.ID) (queue.ID, bool) {
	if notices {
		for _, id := range l.notices {
			if l.working[id] == 0 && id != avoid && !now.Before(l.asleep[id]) {
				return id, true
			}
		}
		return "", false
	}
	for _, id := range l.posts {
		switch {
		case l.working[id] >= max(l.ranges[id], 1):
			return "", false
		case id != avoid && !now.Before(l.asleep[id]):
			return id, true
		case l.working[id] > 0:
			return "", false
		}
	}
	return "", false
}

// done ends a turn. An entry that is gone leaves the line, one that has nothing for
// us sleeps until the time given. The list comes behind those that came meanwhile.
func (a *agenda) done(t turn, gone bool, until time.Time) {
	if i := slices.Index(a.ring, t.list); i >= 0 {
		a.ring = append(slices.Delete(a.ring, i, i+1), t.list)
	}
	l := a.lines[t.list]
	if l.working[t.id]--; l.working[t.id] <= 0 {
		delete(l.working, t.id)
	}
	switch {
	case gone:
		same := func(id queue.ID) bool { return id == t.id }
		l.notices, l.posts = slices.DeleteFunc(l.notices, same), slices.DeleteFunc(l.posts, same)
		delete(l.asleep, t.id)
	case !until.IsZero():
		l.asleep[t.id] = until
	}
}
