package store

import (
	"errors"
	"time"
)

// AddCount counts one more event under a key: a notice to an address, a post of an
// author. A count begins with its first event and ends at that event's Until; the next
// begins a new one. Counts that have ended are forgotten by the first AddCount whose At
// is past their end: At is the only clock, so every host forgets alike.
type AddCount struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

// Kind implements Change.
func (AddCount) Kind() string { return "add_count" }

func (c AddCount) check(*State) error {
	if c.Key == "" || !c.Until.After(c.At) {
		return errors.New("add count: no key, or no time to count in")
	}
	return nil
}

func (c AddCount) apply(d *draft) {
	at := c.At.UTC()
	for old := range d.countEnd.all() {
		if old.Until.After(at) {
			break
		}
		d.ended = append(d.ended, old)
	}
	for _, old := range d.ended {
		d.counts.del(old)
		d.countEnd.del(old)
	}
	d.ended = d.ended[:0]
	n := count{Key: c.Key, Until: c.Until.UTC()}
	if old, ok := d.counts.get(n); ok {
		n = old
		d.countEnd.del(old)
	}
	n.N++
	d.counts.put(n)
	d.countEnd.put(n)
}

// count is how often something happened since a count began.
type count struct {
	Key   string    `json:"key"`
	N     int       `json:"n"`
	Until time.Time `json:"until"`
}

func lessCountKey(a, b count) bool { return a.Key < b.Key }

func lessCountEnd(a, b count) bool {
	if c := a.Until.Compare(b.Until); c != 0 {
		return c < 0
	}
	return a.Key < b.Key
}
