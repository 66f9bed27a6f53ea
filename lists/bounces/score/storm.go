package score

import "time"

// StormWindow is the time in which members have to bounce alike to make a storm, and how
// long a storm lasts behind its last bounce.
const StormWindow = time.Hour

// stormMembers is how many make a storm at least.
const stormMembers = 5

// Storm is a receiving domain whose members all bounce alike: it is more likely that the
// domain is at fault, or we are, than that they all went away at once.
type Storm struct {
	// Domain is the receiving domain, in lower case; Kind the bounces' kind.
	Domain string `json:"domain"`
	Kind   Kind   `json:"kind"`
	// Since is when it was noticed, Until when it is over, unless more comes.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Members is how many had bounced alike when it was noticed.
	Members int `json:"members"`
}

// Active reports whether bounces at a time belong to the storm.
func (s Storm) Active(at time.Time) bool { return !s.Until.IsZero() && at.Before(s.Until) }

// StormNeeds is how many members of a list with so many have to bounce alike to make a
// storm: more than Config.Storm per cent, and five. 0: there are no storms.
func (c Config) StormNeeds(members int) int {
	if c.Storm <= 0 {
		return 0
	}
	return max(stormMembers, int(int64(members)*c.Storm/100)+1)
}

// TakeBack undoes what bounces of a kind have done to a record since a time: points, a
// probe that waits, and that delivery was disabled; enable says that the caller has to
// enable it again. The Step is zero if there was nothing to undo.
func TakeBack(r Record, steps []Step, k Kind, since, at time.Time) (out Record, s Step, enable bool) {
	var sum, today Points
	for _, old := range steps {
		if old.What == TakenBack && old.Kind == k {
			sum, today = 0, 0 // what came before is undone already
		}
		if old.What != Bounced || old.Kind != k || old.At.Before(since) {
			continue
		}
		sum += old.Points
		if sameDay(old.At, r.Last) {
			today += old.Points
		}
	}
	s = Step{At: at, What: TakenBack, Kind: k, Why: "many bounced alike"}
	if enable = !r.Disabled.IsZero() && !r.Disabled.Before(since) && r.Removed.IsZero(); enable {
		r.Disabled, r.Warned, r.Notice = time.Time{}, 0, time.Time{}
		s.Why += "; delivery is enabled again"
	}
	if !r.Probed.IsZero() && !r.Probed.Before(since) {
		r.Probed, r.Limit = time.Time{}, 0
	}
	if sum == 0 && !enable {
		return r, Step{}, false
	}
	sum = min(sum, r.Score)
	r.Score -= sum
	r.Given = max(0, r.Given-today)
	s.Points, s.Score = -sum, r.Score
	return r, s, enable
}
