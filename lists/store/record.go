package store

import (
	"time"

	"qrunner/lists"
	"qrunner/locking"
)

// RecordKind says what a record is for.
type RecordKind string

// The kinds of records.
const (
	KindCreate  RecordKind = "create"  // the first one
	KindFence   RecordKind = "fence"   // begins a grant; earlier holders cannot commit any more
	KindCommit  RecordKind = "commit"  // changes
	KindRelease RecordKind = "release" // ends a grant cleanly; may carry changes
	KindDelete  RecordKind = "delete"  // the last one
)

// By says who changes a list and why. Time and host are added by the store.
type By struct {
	Actor  string
	Reason string
}

// Record is one file of a list's log.
type Record struct {
	N    uint64     `json:"n"`
	Kind RecordKind `json:"kind"`
	// List and Incarnation are in the first record only.
	List        lists.ID `json:"list,omitempty"`
	Incarnation string   `json:"incarnation,omitempty"`
	// Token is the grant under which the record was written; a fence's own number.
	Token   locking.Token `json:"token,omitempty"`
	Time    time.Time     `json:"time"` // by the host's clock
	Host    string        `json:"host"`
	Actor   string        `json:"actor,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Changes Changes       `json:"changes,omitempty"`
}
