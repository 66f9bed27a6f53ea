package score

import "time"

// Step is one thing that happened to a Record, for people who ask why.
type Step struct {
	At   time.Time `json:"at"`
	What What      `json:"what"`
	// Kind is set for bounces.
	Kind Kind `json:"kind,omitempty"`
	// Points is what the score changed by, Score what it was then.
	Points Points `json:"points,omitempty"`
	Score  Points `json:"score"`
	Why    string `json:"why,omitempty"`
	// More counts steps of the same day that said the same and changed nothing.
	More int `json:"more,omitempty"`
}

// What names a step.
type What string

// The steps. Their texts stand in logs: do not change them.
const (
	Bounced   What = "bounced"    // a bounce that got points, or not: Why says
	Probed    What = "probed"     // a probe was sent
	Disabled  What = "disabled"   // delivery was disabled
	Warned    What = "warned"     // a warning was sent
	Removed   What = "removed"    // taken off the list
	Enabled   What = "enabled"    // delivery is enabled again
	TakenBack What = "taken-back" // points of a storm were taken back
	Shown     What = "shown"      // the owner was told of refusals
)

// maxSteps is how many steps are kept of a member. Logs are replayed by it: it cannot be
// changed for steps that are kept already.
const maxSteps = 20

// Append adds a step to a history: the oldest fall off, and one that says the same as the
// last and gives no points only raises its count. The given slice stays as it is.
func Append(steps []Step, s Step) []Step {
	out := append(make([]Step, 0, len(steps)+1), steps...)
	if n := len(out) - 1; n >= 0 && s.Points == 0 && s.What == Bounced {
		last := &out[n]
		if last.What == Bounced && last.Points == 0 && last.Kind == s.Kind && last.Why == s.Why && sameDay(last.At, s.At) {
			last.More++
			return out
		}
	}
	out = append(out, s)
	if len(out) > maxSteps {
		out = out[len(out)-maxSteps:]
	}
	return out
}

// sameDay compares calendar days in UTC.
func sameDay(a, b time.Time) bool {
	return a.UTC().Truncate(24 * time.Hour).Equal(b.UTC().Truncate(24 * time.Hour))
}
