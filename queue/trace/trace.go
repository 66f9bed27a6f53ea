// Package trace keeps each message's history, from intake to the last recipient, as
// lines of JSON that every host appends to a file of its own:
// trace/<host>/<day>.jsonl.
//
// A trace is a help to people and promises nothing: Add never waits for the share
// and never fails the work it reports on; what cannot be written is dropped and
// counted.
package trace

import (
	"time"

	"qrunner/lists"
	"qrunner/queue"
)

// Event is one line of a message's history.
type Event struct {
	// Time is the host's clock; Add fills it where it is zero, and Host always.
	Time time.Time `json:"time"`
	Host string    `json:"host"`
	// Trace names the message on all its ways.
	Trace string `json:"trace"`
	// MessageID is the message's own, with or without its angle brackets.
	MessageID string     `json:"message_id,omitempty"`
	List      lists.ID   `json:"list,omitempty"`
	Entry     queue.ID   `json:"entry,omitempty"`
	Queue     queue.Name `json:"queue,omitempty"`
	// Event is one word: received, accepted, held, sent, deferred, bounced, ...
	Event string `json:"event"`
	// Detail is free text for people: the rule, the reply, the cause.
	Detail string `json:"detail,omitempty"`
	Rcpt   string `json:"rcpt,omitempty"`
}

// root is the traces' folder on the share.
const root = "trace"

// dayForm names a day's file.
const (
	dayForm = "2006-01-02"
	suffix  = ".jsonl"
)
