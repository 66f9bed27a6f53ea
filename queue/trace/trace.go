// Package trace keeps each message's history, from intake to the last recipient, as
// lines of JSON that every host appends to a file of its own:
// trace/<host>/<day>.jsonl.
//
// A trace is a help to people and promises nothing: Add never waits for the share
// and never fails the work it reports on; what cannot be written is dropped and
// counted.
package trace

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Event is one line of a message's history.
type Event struct {
	// Time is the host's clock; Add fills it where it is zero, and Host always.
	Time time.Time `json:"time"`
	Host string    `json:"host"`
	// Trace names the message on all its ways.
	Trace string `json:"trace"`
	// MessageID is the message's own, with its angle brackets.
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

// Config is what a Log needs.
type Config struct {
	FS   fsys.FS
	Host string
	// Now dates events; a host's own clock.
	Now func() time.Time
	Log *slog.Logger
}

// Log takes this host's events.
type Log struct{ c Config }

// New makes a Log. Nothing is written until Run runs.
func New(c Config) *Log { return &Log{c: c} }

// Add takes an event. It never blocks; when too many wait to be written, e is
// dropped and counted. A nil Log drops everything.
func (l *Log) Add(ctx context.Context, e Event) {}

// Run writes what Add takes until ctx ends, then writes what is left.
func (l *Log) Run(ctx context.Context) error { return errors.ErrUnsupported }

// Dropped is how many events were lost since the start.
func (l *Log) Dropped() uint64 { return 0 }

// Search reads the traces of all hosts and returns the events that match, in order
// of time. Torn lines are skipped.
func Search(ctx context.Context, f fsys.FS, match func(*Event) bool) ([]Event, error) {
	return nil, errors.ErrUnsupported
}

// Story is the whole history of the messages that text names: text is a trace id
// or a Message-ID, with or without its angle brackets.
func Story(ctx context.Context, f fsys.FS, text string) ([]Event, error) {
	return nil, errors.ErrUnsupported
}
