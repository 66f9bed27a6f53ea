package store

import (
	"errors"
	"fmt"
	"time"
)

// SetPostID says which number the last accepted post got.
type SetPostID struct {
	N uint64 `json:"n"`
}

// Kind implements Change.
func (SetPostID) Kind() string { return "set_post_id" }

func (c SetPostID) check(s *State) error {
	if c.N < s.postID {
		return fmt.Errorf("post number %d: the last was %d", c.N, s.postID)
	}
	return nil
}

func (c SetPostID) apply(d *draft) { d.postID = c.N }

// defaultSeen is how long a copy is remembered when MarkSeen does not say.
const defaultSeen = 24 * time.Hour

// MarkSeen remembers a message that was accepted or held, so that a repeat can be
// told. Key is the caller's (sender, Message-ID, body hash and so on). It is
// forgotten by the first MarkSeen whose At is past Until; a zero Until is At
// plus a day. At is thus the only clock, and every host forgets alike.
type MarkSeen struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"`
}

// Kind implements Change.
func (MarkSeen) Kind() string { return "mark_seen" }

func (c MarkSeen) check(*State) error {
	if c.Key == "" || c.At.IsZero() {
		return errors.New("mark seen: no key or time")
	}
	return nil
}

func (c MarkSeen) apply(d *draft) {
	if c.Until.IsZero() {
		c.Until = c.At.Add(defaultSeen)
	}
	d.markSeen(seen{Key: c.Key, At: c.At.UTC(), Until: c.Until.UTC()})
}

// seen is a remembered message.
type seen struct {
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

func lessSeenKey(a, b seen) bool { return a.Key < b.Key }

func lessSeenEnd(a, b seen) bool {
	if c := a.Until.Compare(b.Until); c != 0 {
		return c < 0
	}
	return a.Key < b.Key
}

func (d *draft) markSeen(s seen) {
	if old, ok := d.seen.get(seen{Key: s.Key}); ok {
		d.seenEnd.del(old)
	}
	d.seen.put(s)
	d.seenEnd.put(s)
	for old := range d.seenEnd.all() {
		if !old.Until.Before(s.At) {
			break
		}
		d.expired = append(d.expired, old)
	}
	for _, old := range d.expired {
		d.seen.del(old)
		d.seenEnd.del(old)
	}
	d.expired = d.expired[:0]
}
