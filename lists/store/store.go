package store

import (
	"log/slog"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// Config is what a Store needs.
type Config struct {
	// FS is the share.
	FS fsys.FS
	// Locker holds the lists' locks; the key of a list is its ID.
	Locker locking.Locker
	// Host names this host in records.
	Host string
	// Clock dates records; nil for the time of day.
	Clock clock.Clock
	// Log gets what nobody is there to be told: a damaged snapshot, a snapshot
	// that could not be written. nil for none.
	Log *slog.Logger
	// Levels gives the settings below a list's own: style, site, domain. May be nil.
	Levels func(lists.ID) []lists.Level
	// Addresses gives what somebody has set for an address on all lists: see
	// lists.AddressPrefTable. It must not wait for the share. May be nil.
	Addresses func(mailaddr.Address) map[string]string
	// SnapshotEvery is how many records a snapshot is newer than the one before;
	// 0 means 500. Large lists take more: a thousandth of their roster.
	SnapshotEvery int
}

// Store is the state of all lists of one share, as this process sees it. Its
// methods may be called from any goroutine.
type Store struct {
	Config
	cache *cache
	names names
}

// Open returns the Store of a share. It does no I/O.
func Open(c Config) *Store {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.SnapshotEvery <= 0 {
		c.SnapshotEvery = 500
	}
	return &Store{Config: c, cache: newCache()}
}

func (s *Store) now() time.Time { return s.Clock().UTC().Round(0) }
