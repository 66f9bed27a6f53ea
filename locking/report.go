package locking

import (
	"context"
	"time"
)

// State is what a Report says of a lock.
type State string

// The states of a lock.
const (
	StateFree     State = "free"
	StateHeld     State = "held"
	StateStale    State = "stale"      // may be broken, or soon: see Why
	StateNotALock State = "not a lock" // something else has the lock's name
)

// Report is a lock as an operator sees it. Fields that a back end cannot tell are zero.
type Report struct {
	Key     Key
	Mode    Mode
	State   State
	Holder  Holder        // zero if free; without a host if its record cannot be read
	Sharing []Holder      // who holds it together with Holder, in shared mode
	Torn    bool          // the holder's record cannot be read
	Now     time.Time     // the server's time
	Age     time.Duration // since the last refresh, by the server's clock
	Waiters []Holder      // in the order in which they will be served, where there is one
	Tickets int           // breaks or releases of a lock file that are under way, or were left by a crash
	Reason  string        // why it is stale
	Why     string        // in words, stale or not
	Would   string        // what breaking or stealing it would do
}

// Operator is what a Locker offers to people: who holds what, and a way to take it.
type Operator interface {
	Locker
	// Inspect reports who holds key and who waits for it, and changes nothing.
	Inspect(ctx context.Context, key Key) (Report, error)
	// List returns the keys that are locked, in the order of their names.
	List(ctx context.Context) ([]Key, error)
	// Steal takes the lock of key from whoever holds it, alive or not; only the fence
	// keeps the two apart until the former holder notices. A free lock is simply
	// taken. If the lock changes hands meanwhile the answer is ErrStealLost, never a
	// second attempt: that would take it from somebody who has just got it rightly.
	// The Report says what was found before.
	Steal(ctx context.Context, key Key, opts ...Option) (Lease, Report, error)
}

// Breaker is an Operator whose locks can outlive their holders for a while.
type Breaker interface {
	Operator
	// Break ends a lock whose holder is gone, and watches one whose lifetime seems to
	// be over for as long as it takes. One that is held is left alone: *HeldError.
	// The Report says what was found before.
	Break(ctx context.Context, key Key) (Report, error)
}
