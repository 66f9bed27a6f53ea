package store

import "qrunner/lists"

// FindingKind sorts what is wrong with a file.
type FindingKind string

// The kinds of findings.
const (
	Damaged FindingKind = "damaged" // its content is not what was written
	Missing FindingKind = "missing" // something names it, and it is not there
	Orphan  FindingKind = "orphan"  // nothing names it, and nobody will
	Newer   FindingKind = "newer"   // a newer version wrote it
	Odd     FindingKind = "odd"     // not a name that belongs there
)

// Remedy is what a repair may do about a finding. Empty: it is a person's part, and the
// finding's text says what.
type Remedy string

// The remedies. Each comes after a copy of the file was put aside.
const (
	Remove Remedy = "remove"         // the file, or the folder with what is in it
	ToBad  Remedy = "move to bad"    // as the daemon does when it comes to the entry
	Unhold Remedy = "drop held post" // the list's state names it no more
)

// Finding is one thing on the share that is not as it should be.
type Finding struct {
	List lists.ID    `json:"list,omitempty"`
	File string      `json:"file"` // from the share's root
	Kind FindingKind `json:"kind"`
	Text string      `json:"text"`
	// Remedy is what repairs it.
	Remedy Remedy `json:"remedy,omitempty"`
}
