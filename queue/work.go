package queue

import (
	"context"
	"errors"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// Processor is a stage: it looks at one entry and says what shall come of it. It
// changes nothing by itself and may be called again for the same entry.
type Processor interface {
	Process(ctx context.Context, w *Work) (*Outcome, error)
}

// Work is what a stage gets.
type Work struct {
	Entry *Entry
	// List is the list's state under the lease, including what entries before
	// this one in the same commit changed.
	List *lists.List
	// State is the same with what only qrunner itself needs.
	State *store.State
}

// Fate is what becomes of an entry.
type Fate int

// The fates. FateShunt parks the entry with Outcome.Reason as its cause.
const (
	FateDone Fate = iota
	FateShunt
)

// Outcome is what a stage decided. It takes effect as one commit: all or nothing.
type Outcome struct {
	Fate Fate
	// Reason says why, for the log, the trace and shunt.
	Reason string
	// Event is one word for the trace: accepted, held, discarded, repeated, ...
	Event string
	// Told is what the same commit decided about other messages than the entry, for the
	// trace: a held post that a moderator's answer lets pass.
	Told []Told
	// Verdict is set where rules were asked.
	Verdict *lists.Verdict
	// Changes to the list's state.
	Changes []store.Change
	// Children are published after the commit.
	Children []Child
}

// Told is an event in the history of a message.
type Told struct {
	// Trace may be empty where only the Message-ID is known.
	Trace, MessageID string
	Event, Reason    string
}

// Child is a file or folder that comes of an entry. Exactly one of Entry, Fanout
// and File is set.
type Child struct {
	Entry  *Entry
	Fanout *Fanout
	File   *File
}

// Fanout is a message on its way to many (queue out).
type Fanout struct {
	List lists.ID
	Envelope
	Raw []byte
	// PostID is the post's number, 0 for notices.
	PostID uint64
	// VERP asks for an envelope sender and a transaction per recipient; Readable for
	// Mailman's form of it wherever that is possible.
	VERP, Readable bool
	// Copies is how the recipients' copies differ; if they do, each is a transaction.
	Copies lists.Copies
	// Bounces is the envelope sender of the copies (its local part is the VERP
	// prefix); null for notices that must not be answered.
	Bounces mailaddr.Address
	// Bulk is false for notices: they go before posts.
	Bulk       bool
	Recipients []lists.Recipient
}

// File is a write-once file of the list: a held message, an archived post. Path is
// relative to the list's folder on the share.
type File struct {
	Path string
	Data []byte
}

// ErrNoStage: the queue's entries are kept, but nothing processes them yet.
var ErrNoStage = errors.New("no stage for this queue")

// ErrTrouble: a stage could not do its work for reasons that are not the entry's: DNS
// is down, a key service does not answer. It counts against nothing.
var ErrTrouble = errors.New("trouble outside the message")
