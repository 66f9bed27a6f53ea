package digest

import (
	"time"

	"qrunner/lists"
)

// Next numbers the digest that is sent at now, after the one of volume and number was
// sent at last: the next of the volume, or the first of a new one when the time that
// digest_volume_frequency names has passed.
func Next(volume, number int, last, now time.Time, frequency string) (int, int) {
	switch {
	case volume == 0:
		return 1, 1
	case !last.IsZero() && span(last, frequency) != span(now, frequency):
		return volume + 1, 1
	}
	return volume, number + 1
}

// span names the stretch of time that t is in: a year and a part of it.
func span(t time.Time, frequency string) [2]int {
	t = t.UTC()
	switch frequency {
	case "daily":
		return [2]int{t.Year(), t.YearDay()}
	case "weekly":
		year, week := t.ISOWeek()
		return [2]int{year, week}
	case "quarterly":
		return [2]int{t.Year(), (int(t.Month()) - 1) / 3}
	case "yearly":
		return [2]int{t.Year()}
	}
	return [2]int{t.Year(), int(t.Month())}
}

// Due is when a digest whose first post came at first is to be sent, if it does not
// fill up before: the first time after that of a clock that strikes every
// digest_send_every, at digest_send_at. Zero: never.
func Due(s *lists.Settings, first time.Time) time.Time {
	every, err := lists.ParseDuration(s.Text("digest_send_every"))
	if err != nil || every < time.Minute || !s.Bool("digest_send_periodic") {
		return time.Time{}
	}
	at, err := lists.ParseTimeOfDay(s.Text("digest_send_at"))
	if err != nil {
		at = 0
	}
	// Truncate counts from a Monday, so that a weekly digest comes on that day.
	return first.UTC().Add(-at).Truncate(every).Add(every + at)
}

// Fills says whether posts that grow from one size to another, in octets, fill a digest:
// for the first time, or again though nobody has sent it.
func Fills(s *lists.Settings, before, after int64) bool {
	limit := s.Int("digest_size_threshold") << 10
	if limit <= 0 || limit > maxSize {
		limit = maxSize
	}
	return after/limit > before/limit
}

// maxSize is how much a digest may collect, in octets, whatever the list says: all of
// it is in memory when it is made.
const maxSize = 16 << 20
