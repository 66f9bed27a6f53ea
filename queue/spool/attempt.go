package spool

import (
	"context"
	"errors"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/queue"
)

// Attempt is one commit in the making: entries of one list, what becomes of them,
// and the children staged so far. For one goroutine.
type Attempt struct {
	s *Spool
	h *store.Holder
}

// ErrHandedOver: the entry was handed over by an earlier commit, which was not
// carried out to the end. Recover does that; the entry is not to be processed again.
var ErrHandedOver = errors.New("entry is handed over already")

// NewAttempt begins an attempt under h.
func (s *Spool) NewAttempt(h *store.Holder) *Attempt { return &Attempt{s: s, h: h} }

// Add stages what shall become of e: the outcome's children; with queue.FateShunt,
// e itself with its cause instead. New names are given to child entries (Queue and
// List must be set), and with e nil the outcome has no source (a digest that is
// due, a held message let go). After an error e is not part of the attempt; the
// attempt goes on without it.
func (a *Attempt) Add(ctx context.Context, e *queue.Entry, o *queue.Outcome) error {
	return errors.ErrUnsupported
}

// AddBad moves what lies under id in a queue of a list, and could not be read as an
// entry (*CorruptError), to bad/, unchanged.
func (a *Attempt) AddBad(ctx context.Context, q queue.Name, list lists.ID, id queue.ID) error {
	return errors.ErrUnsupported
}

// AddMove puts e into another queue under a new name: `shunt replay`, `queue move`.
func (a *Attempt) AddMove(ctx context.Context, e *queue.Entry, to queue.Name) (queue.ID, error) {
	return "", errors.ErrUnsupported
}

// Len is how many entries the attempt has.
func (a *Attempt) Len() int { return 0 }

// Commit makes everything that was added happen: stage synced, ONE fenced commit
// with the hand-overs and the outcomes' changes, children published, sources
// removed. An error that is store.ErrFenced (or came before the commit) means that
// nothing happened. After any other the commit may stand: Recover settles it. A nil
// error promises that the children are in their queues, on stable storage.
func (a *Attempt) Commit(ctx context.Context, by store.By) error { return errors.ErrUnsupported }
