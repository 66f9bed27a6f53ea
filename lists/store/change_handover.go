package store

import (
	"errors"
	"fmt"
)

// Handover is an entry whose fate is decided and whose children are being put in
// their places. It is in the state from the commit that decided until a later
// commit says that all is done; recovery walks the open ones.
type Handover struct {
	// Entry is the source, below queue/: "in/<list>/<id>".
	Entry string `json:"entry"`
	// Keep: the entry itself moves (shunt, replay); it is one of the children.
	Keep bool `json:"keep,omitempty"`
	// Stage is where the children wait, below queue/:
	// "stage/<list>/<incarnation>.<token>.<k>".
	Stage    string   `json:"stage,omitempty"`
	Children []Placed `json:"children,omitempty"`
}

// Placed is one child of a hand-over.
type Placed struct {
	// Staged is a name inside Stage, or a path below queue/ when it contains "/".
	Staged string `json:"staged"`
	// Target is its path from the share's root.
	Target string `json:"target"`
	// Sum is its checksum.
	Sum string `json:"sum,omitempty"`
}

// OpenHandover opens a hand-over.
type OpenHandover struct {
	Handover Handover `json:"handover"`
}

// Kind implements Change.
func (OpenHandover) Kind() string { return "open_handover" }

func (c OpenHandover) check(s *State) error {
	if c.Handover.Entry == "" {
		return errors.New("open hand-over: no entry")
	}
	if _, ok := s.handovers.get(handover{Handover: c.Handover}); ok {
		return fmt.Errorf("open hand-over %s: open already", c.Handover.Entry)
	}
	return nil
}

func (c OpenHandover) apply(d *draft) {
	d.opened++
	d.handovers.put(handover{Seq: d.opened, Handover: c.Handover})
}

// CloseHandover says that all children are in place and the entry is gone. One
// that is not open is no error: a successor may have been faster.
type CloseHandover struct {
	Entry string `json:"entry"`
}

// Kind implements Change.
func (CloseHandover) Kind() string { return "close_handover" }

func (CloseHandover) check(*State) error { return nil }

func (c CloseHandover) apply(d *draft) { d.handovers.del(handover{Handover: Handover{Entry: c.Entry}}) }

// handover is an open hand-over with its rank in time.
type handover struct {
	Seq uint64 `json:"seq"`
	Handover
}

func lessHandover(a, b handover) bool { return a.Entry < b.Entry }
