package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// PendingKind says what a pending request asks for.
type PendingKind string

// The kinds of requests.
const (
	PendingJoin   PendingKind = "join"
	PendingLeave  PendingKind = "leave"
	PendingSet    PendingKind = "set"    // of preferences and delivery
	PendingChange PendingKind = "change" // of an address
	PendingInvite PendingKind = "invite"
	PendingOwner  PendingKind = "owner" // a command of an owner's
)

// PendingState says whose turn it is.
type PendingState string

// The states of a request. With PendingConfirm the token is in a mail to the address
// concerned, and its return proves that somebody reads that; with PendingModerate it is in
// a mail to the moderators.
const (
	PendingConfirm  PendingState = "confirm"
	PendingModerate PendingState = "moderate"
)

// Pending is a request that waits until its token comes back. A token is good for this
// list and this request only, once, and until the request expires.
type Pending struct {
	// ID names the request, to people too. Token is the secret part: 26 letters, 130 bits.
	ID    string       `json:"id"`
	Token string       `json:"token"`
	Kind  PendingKind  `json:"kind"`
	State PendingState `json:"state"`
	// Address is whom it is about: who will be, or is, a member, or the owner who asks.
	Address mailaddr.Address   `json:"address"`
	Name    string             `json:"name,omitempty"`
	Mode    lists.DeliveryMode `json:"mode,omitempty"`
	// Args are what else the kind needs to know.
	Args map[string]string `json:"args,omitempty"`
	// By says who asked, for the log and for moderators.
	By    string    `json:"by,omitempty"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // from then on it is as if it were not there
	Trace string    `json:"trace,omitempty"`
}

// Pending finds a request that waits at a time. An expired one is not found, though
// it may still be in the state.
func (s *State) Pending(id string, at time.Time) (Pending, bool) {
	p, ok := s.pending.get(Pending{ID: id})
	if !ok || !p.Until.After(at) {
		return Pending{}, false
	}
	return p, true
}

// PendingFor finds the oldest request of a kind about an address that waits at a time.
func (s *State) PendingFor(kind PendingKind, a mailaddr.Address, at time.Time) (Pending, bool) {
	for r := range s.pendingBy.from(pendingRef{kind: kind, address: a.Key()}) {
		if r.kind != kind || r.address != a.Key() {
			break
		}
		if p, ok := s.Pending(r.id, at); ok {
			return p, true
		}
	}
	return Pending{}, false
}

// Pendings are all requests by time of arrival; expired ones too, until somebody closes
// them.
func (s *State) Pendings() []Pending {
	return slices.SortedFunc(s.pending.all(), func(a, b Pending) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// OpenPending puts a request among those that wait.
type OpenPending struct {
	Pending Pending `json:"pending"`
}

// Kind implements Change.
func (OpenPending) Kind() string { return "open_pending" }

func (c OpenPending) check(s *State) error {
	p := c.Pending
	switch _, taken := s.pending.get(p); {
	case p.ID == "" || p.Token == "" || p.Kind == "" || p.State != PendingConfirm && p.State != PendingModerate:
		return errors.New("open pending: no id, token, kind or state")
	case !p.Until.After(p.Since):
		return fmt.Errorf("open pending %s: no time to wait in", p.ID)
	case taken:
		return fmt.Errorf("open pending %s: there already", p.ID)
	}
	if _, err := mailaddr.Parse(string(p.Address)); err != nil {
		return fmt.Errorf("open pending %s: %w", p.ID, err)
	}
	return nil
}

func (c OpenPending) apply(d *draft) {
	c.Pending.Since, c.Pending.Until = c.Pending.Since.UTC(), c.Pending.Until.UTC()
	d.putPending(c.Pending)
}

// ClosePending takes a request from among those that wait, whatever became of it: this is
// what makes a token good once.
type ClosePending struct {
	ID string `json:"id"`
}

// Kind implements Change.
func (ClosePending) Kind() string { return "close_pending" }

func (c ClosePending) check(s *State) error {
	if _, ok := s.pending.get(Pending{ID: c.ID}); !ok {
		return fmt.Errorf("pending request %s: %w", c.ID, ErrNoPending)
	}
	return nil
}

func (c ClosePending) apply(d *draft) {
	if old, had := d.pending.del(Pending{ID: c.ID}); had {
		d.pendingBy.del(old.ref())
	}
}

func (s *State) putPending(p Pending) {
	if old, had := s.pending.put(p); had {
		s.pendingBy.del(old.ref())
	}
	s.pendingBy.put(p.ref())
}

// pendingRef finds a request by what it is about.
type pendingRef struct {
	kind    PendingKind
	address string // its key
	since   int64
	id      string
}

func (p Pending) ref() pendingRef {
	return pendingRef{p.Kind, p.Address.Key(), p.Since.UnixNano(), p.ID}
}

func lessPending(a, b Pending) bool { return a.ID < b.ID }

func lessPendingRef(a, b pendingRef) bool {
	return cmp.Or(strings.Compare(string(a.kind), string(b.kind)), strings.Compare(a.address, b.address),
		cmp.Compare(a.since, b.since), strings.Compare(a.id, b.id)) < 0
}
