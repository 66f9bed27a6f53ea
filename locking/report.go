package locking

import "time"

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
