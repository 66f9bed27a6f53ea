package lockfile

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"qrunner/locking"
)

// Stats counts what a Locker did since it was made.
type Stats struct {
	Grants      int64 // leases handed out
	Releases    int64 // leases given back
	HandOvers   int64 // of them, to the next goroutine without a release on the share
	Losses      int64 // leases lost while they were held
	Tries       int64 // attempts to link a claim to a lock's name
	Examined    int64 // looks at a lock's content
	Breaks      map[Reason]int64
	Steals      int64 // locks taken from a live holder by an operator
	LostReplies int64 // calls that answered an error and had been done
	SillyNames  int64 // times a lock was found renamed to .nfs... under its holder
	Swept       int64 // left-over files removed
	Waited      time.Duration
}

// Reason says why a lock counts as abandoned.
type Reason string

// The reasons.
const (
	NotStale Reason = ""         // it does not
	Released Reason = "released" // its holder could not remove it and marked it
	Dead     Reason = "dead"     // its holder was on this machine and is gone
	Expired  Reason = "expired"  // its lifetime is over, by the server's clock and our eyes
	Stolen   Reason = "stolen"   // an operator said so
)

// Event is something that happened to a lock of this Locker.
type Event struct {
	Kind   EventKind
	Key    locking.Key
	Token  locking.Token // of a grant
	Waited time.Duration // before a grant
	Reason Reason        // of a break
	From   locking.Holder
}

// EventKind says what an Event is about.
type EventKind string

// The kinds of events.
const (
	EventGranted  EventKind = "granted"
	EventReleased EventKind = "released"
	EventLost     EventKind = "lost"
	EventBroken   EventKind = "broken"
)

// LogValue makes a group of it for a log line, without what is zero.
func (s Stats) LogValue() slog.Value {
	var list []slog.Attr
	add := func(key string, n int64) {
		if n != 0 {
			list = append(list, slog.Int64(key, n))
		}
	}
	add("grants", s.Grants)
	add("releases", s.Releases)
	add("hand_overs", s.HandOvers)
	add("losses", s.Losses)
	add("tries", s.Tries)
	add("examined", s.Examined)
	var breaks []any
	for _, r := range slices.Sorted(maps.Keys(s.Breaks)) {
		breaks = append(breaks, slog.Int64(string(r), s.Breaks[r]))
	}
	list = append(list, slog.Group("breaks", breaks...))
	add("steals", s.Steals)
	add("lost_replies", s.LostReplies)
	add("silly_names", s.SillyNames)
	add("swept", s.Swept)
	return slog.GroupValue(append(list, slog.Float64("waited_seconds", s.Waited.Seconds()))...)
}

// counters is Stats under Locker.mu.
type counters struct{ Stats }

// Stats returns the counts so far.
func (l *Locker) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.count.Stats
	s.Breaks = map[Reason]int64{}
	for r, n := range l.count.Breaks {
		s.Breaks[r] = n
	}
	return s
}

// counted changes the counts.
func (l *Locker) counted(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.count.Stats)
}

func (l *Locker) event(e Event) {
	l.counted(func(s *Stats) {
		switch e.Kind {
		case EventGranted:
			s.Grants++
			s.Waited += e.Waited
		case EventReleased:
			s.Releases++
		case EventLost:
			s.Losses++
		case EventBroken:
			if s.Breaks == nil {
				s.Breaks = map[Reason]int64{}
			}
			s.Breaks[e.Reason]++
			if e.Reason == Stolen {
				s.Steals++
			}
		}
	})
	if l.cfg.Observe != nil {
		l.cfg.Observe(e)
	}
}
