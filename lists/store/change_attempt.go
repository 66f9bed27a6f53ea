package store

import (
	"errors"
	"time"
)

// Attempt counts the tries of an entry that ended badly.
type Attempt struct {
	Count int       `json:"count"`
	Cause string    `json:"cause,omitempty"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// MarkAttempt is made durable before the work on an entry, so that an entry that
// kills its process is known to the next one.
type MarkAttempt struct {
	Entry string    `json:"entry"`
	Count int       `json:"count"`
	Cause string    `json:"cause,omitempty"`
	At    time.Time `json:"at"`
}

// Kind implements Change.
func (MarkAttempt) Kind() string { return "mark_attempt" }

func (c MarkAttempt) check(*State) error {
	if c.Entry == "" || c.Count < 1 {
		return errors.New("mark attempt: no entry or count")
	}
	return nil
}

func (c MarkAttempt) apply(d *draft) {
	a := attempt{Entry: c.Entry, Attempt: Attempt{Count: c.Count, Cause: c.Cause, First: c.At.UTC(), Last: c.At.UTC()}}
	if old, ok := d.attempts.get(a); ok {
		a.First = old.First
	}
	d.attempts.put(a)
}

// ClearAttempt forgets an entry's marks; one without marks is no error.
type ClearAttempt struct {
	Entry string `json:"entry"`
}

// Kind implements Change.
func (ClearAttempt) Kind() string { return "clear_attempt" }

func (ClearAttempt) check(*State) error { return nil }

func (c ClearAttempt) apply(d *draft) { d.attempts.del(attempt{Entry: c.Entry}) }

// attempt is an Attempt with its entry.
type attempt struct {
	Entry string `json:"entry"`
	Attempt
}

func lessAttempt(a, b attempt) bool { return a.Entry < b.Entry }
