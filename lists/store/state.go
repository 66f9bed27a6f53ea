package store

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/locking"
)

// State is a list at one record of its log. It never changes; any goroutine may
// use it.
type State struct {
	id          lists.ID
	incarnation string
	version     uint64 // the last record that is included
	changed     uint64 // the last record that was not just a fence
	deleted     bool
	// grant is the fence of a grant that has no release record yet; unclean says
	// that the grant before it had none when it began.
	grant   locking.Token
	unclean bool

	nextMember lists.MemberID
	postID     uint64
	opened     uint64 // hand-overs opened so far
	overrides  map[string]string
	roster     *roster
	handovers  *set[handover]
	held       *set[HeldPost]
	seen       *set[seen]
	seenEnd    *set[seen]
	attempts   *set[attempt]
	digest     *set[DigestPost]
	last       *set[LastDigest]
	issued     issued
	digests    uint64 // sent so far
	bounces    *set[Bounce]
	alike      *set[alike] // of bounces
	storms     *set[score.Storm]
	counts     *set[count]
	countEnd   *set[count]
	pending    *set[Pending]
	pendingBy  *set[pendingRef]

	conf     *Config                // what is known beside the log; nil: nothing
	settings func() *lists.Settings // shared by states with the same overrides
	list     func() *lists.List
}

// List is what rules and handlers see of the list.
func (s *State) List() *lists.List { return s.list() }

// ID names the list.
func (s *State) ID() lists.ID { return s.id }

// Incarnation tells the list from an earlier one of the same name.
func (s *State) Incarnation() string { return s.incarnation }

// Version is the number of the last record that is included.
func (s *State) Version() uint64 { return s.version }

// Handovers are the open hand-overs, oldest first.
func (s *State) Handovers() []Handover {
	all := slices.SortedFunc(s.handovers.all(), func(a, b handover) int { return cmp.Compare(a.Seq, b.Seq) })
	out := make([]Handover, len(all))
	for i := range all {
		out[i] = all[i].Handover
	}
	return out
}

// Held are the held posts by time of arrival.
func (s *State) Held() []HeldPost {
	return slices.SortedFunc(s.held.all(), func(a, b HeldPost) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// HeldPost finds a held post.
func (s *State) HeldPost(id string) (HeldPost, bool) { return s.held.get(HeldPost{ID: id}) }

// Seen says when a message of this key was taken, if it is still remembered.
func (s *State) Seen(key string) (time.Time, bool) {
	m, ok := s.seen.get(seen{Key: key})
	return m.At, ok
}

// Count is how often AddCount was called under a key, in the count that runs at a time.
func (s *State) Count(key string, at time.Time) int {
	if c, ok := s.counts.get(count{Key: key}); ok && c.Until.After(at) {
		return c.N
	}
	return 0
}

// Attempt gives the marks of an entry.
func (s *State) Attempt(entry string) (Attempt, bool) {
	a, ok := s.attempts.get(attempt{Entry: entry})
	return a.Attempt, ok
}

// Overrides are the list's own settings. The caller owns the map.
func (s *State) Overrides() map[string]string {
	out := maps.Clone(s.overrides)
	if out == nil {
		out = map[string]string{}
	}
	return out
}

// seal makes the state ready for readers; what is not in the log is asked of conf.
func (s *State) seal(conf *Config) {
	s.conf = conf
	if conf == nil {
		conf = &Config{}
	}
	if s.settings == nil {
		id, own := s.id, s.overrides
		s.settings = sync.OnceValue(func() *lists.Settings {
			var ls []lists.Level
			if conf.Levels != nil {
				ls = slices.Clone(conf.Levels(id))
			}
			return lists.Resolve(append(ls, lists.Level{Name: "list", Values: own})...)
		})
	}
	s.list = sync.OnceValue(func() *lists.List {
		return &lists.List{
			ID: s.id, Incarnation: s.incarnation, Version: s.version, PostID: s.postID,
			Settings: s.settings(), Roster: s.roster, Addresses: conf.Addresses,
		}
	})
}
