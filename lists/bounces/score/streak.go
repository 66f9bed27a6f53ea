package score

import "time"

// Streak is a row of posts that were all refused for policy.
type Streak struct {
	// First is when the first refusal came, Post the list's last post then.
	First time.Time `json:"first"`
	Post  uint64    `json:"post,omitempty"`
	Count int       `json:"count"`
	// Shown: the owner was told.
	Shown bool `json:"shown,omitempty"`
}

// A member is shown to the owner after so long a row of so many refusals.
const (
	streakSpan  = 30 * 24 * time.Hour
	streakCount = 10
)

// streakLate is how many posts of a row may lack a refusal: reports that are on their way.
const streakLate = 3

// next is the row with one more refusal. It begins anew where posts got through.
func (s Streak) next(e Event) Streak {
	if s.Count == 0 || s.missing(e.Post)-1 > streakLate {
		return Streak{First: e.At, Post: e.Post, Count: 1}
	}
	s.Count++
	return s
}

// missing is how many posts since the row began were not refused.
func (s Streak) missing(post uint64) int64 { return int64(post-s.Post) + 1 - int64(s.Count) }

// due reports whether the owner has to be told.
func (s Streak) due(at time.Time) bool {
	return !s.Shown && s.Count >= streakCount && at.Sub(s.First) >= streakSpan
}
