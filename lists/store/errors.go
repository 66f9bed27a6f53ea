package store

import (
	"errors"
	"fmt"
)

// States that callers branch on. All but ErrUnknown promise that nothing changed.
var (
	// ErrExists: the list is there already.
	ErrExists = errors.New("list exists already")
	// ErrFenced: somebody else's record stands where ours should. The state that
	// the holder had is out of date; if the lease was lost, the error is also
	// locking.ErrLost, else Holder.State has been loaded anew and the caller may
	// decide again.
	ErrFenced = errors.New("another host has taken the list's log over")
	// ErrUnknown: whether the record is in the log could not be learned. The holder
	// cannot commit any more; the next grant finds out. Whoever gets it must leave
	// alone all that the record may have named.
	ErrUnknown = errors.New("outcome of the commit is unknown")
	// ErrNewer: a newer version of qrunner wrote it.
	ErrNewer = errors.New("written by a newer version")
	// ErrUnfinished: the list still has open hand-overs or held posts.
	ErrUnfinished = errors.New("list has unfinished work")
	// ErrMemberExists and ErrNoMember: the address is, or is not, on the roster in
	// that role.
	ErrMemberExists = errors.New("already on the roster")
	ErrNoMember     = errors.New("not on the roster")
	// ErrNoHeld: no held post of that name.
	ErrNoHeld = errors.New("no such held post")
	// ErrNoPending: no such request waits: it was done, it expired, or it never was.
	ErrNoPending = errors.New("no such pending request")
	// ErrReleased: the holder was used after its Release.
	ErrReleased = errors.New("list was released")
)

// CorruptError is a file of the store whose content is not what was written.
type CorruptError struct {
	File string // from the share's root
	Err  error
}

// Error names the file.
func (e *CorruptError) Error() string { return fmt.Sprintf("corrupt %s: %v", e.File, e.Err) }

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// GapError: records are missing between a list's snapshot and its last record. The
// list is refused until the disk or the listing is mended.
type GapError struct {
	Dir     string // the log's folder, from the share's root
	Missing uint64 // the first number that is not there
	Head    uint64 // the highest number that is
}

// Error says which record is missing.
func (e *GapError) Error() string {
	return fmt.Sprintf("log %s: record %d is missing (the last is %d)", e.Dir, e.Missing, e.Head)
}
