package score

import "time"

// removedKept is how long the record of somebody who was removed is kept, for those who
// ask why.
const removedKept = 90 * 24 * time.Hour

// Due is what time has brought about for a record; posts is how many there were since
// Record.Post. Who was disabled is removed an hour later at the earliest, so that a storm
// can still take it back.
func (c Config) Due(r Record, now time.Time, posts uint64) Act {
	switch {
	case !r.Removed.IsZero():
		if now.Sub(r.Removed) > removedKept {
			return Drop
		}
	case r.Disabled.IsZero():
		if c.Past(r, now, posts) {
			return Drop
		}
	case r.Complained(): // one notice is enough for who calls them spam
		if c.Complaint == ComplaintUnsubscribe && r.Warned == 0 && now.Sub(r.Disabled) >= StormWindow {
			return Remove
		}
	case c.Warnings == 0 || r.Warned == 0:
		if now.Sub(r.Disabled) < StormWindow {
			return Nothing
		}
		return next(r.Warned < c.Warnings)
	case now.Sub(r.Notice) >= c.Interval:
		return next(r.Warned < c.Warnings)
	}
	return Nothing
}

func next(warn bool) Act {
	if warn {
		return Warn
	}
	return Remove
}
