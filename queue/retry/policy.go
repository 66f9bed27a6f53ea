package retry

import (
	"cmp"
	"time"
)

// Policy is how long to wait and when to give up. Zero fields have defaults.
type Policy struct {
	// First is the wait after the first try (default 5 min); each further one is
	// twice as long, up to Longest (default 4 h).
	First, Longest time.Duration
	// GiveUp is how long after its first temporary failure a recipient is given up
	// (default 5 days; RFC 5321 §4.5.4.1 asks for at least 4).
	GiveUp time.Duration
}

// spread is how far, as a share of the wait, chance moves it either way, so that
// what failed together does not come back together.
const spread = 0.1

// Next is the wait after the attempt-th temporary failure (from 1) of a recipient
// whose first one is age ago; chance is a random number in [0, 1). It reports
// false when the time to try is over. The last try is made at GiveUp, not before.
func (p Policy) Next(attempt int, age time.Duration, chance float64) (time.Duration, bool) {
	p = p.defaults()
	if age >= p.GiveUp {
		return 0, false
	}
	wait := p.First
	for i := 1; i < attempt && wait < p.Longest; i++ {
		wait *= 2
	}
	wait = min(wait, p.Longest)
	wait += time.Duration(float64(wait) * spread * (2*chance - 1))
	return max(min(wait, p.GiveUp-age), time.Second), true
}

func (p Policy) defaults() Policy {
	p.First = cmp.Or(p.First, 5*time.Minute)
	p.Longest = cmp.Or(p.Longest, 4*time.Hour)
	p.GiveUp = cmp.Or(p.GiveUp, 5*24*time.Hour)
	return p
}
