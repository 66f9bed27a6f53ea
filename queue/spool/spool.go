package spool

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"qrunner/lists/store"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Config is what a Spool needs; all fields but Rand must be set.
type Config struct {
	FS fsys.FS
	// Host is this host's short name; it becomes part of entries' names.
	Host  string
	Clock clock.Clock
	Log   *slog.Logger
	// Rand makes names unique; nil means a good source.
	Rand func() uint64
}

// Spool is one host's access to the queues. Its methods may be called from any
// goroutine.
type Spool struct {
	c       Config
	folders *folders
	seq     atomic.Uint64 // entries named by this process
	tries   atomic.Uint64 // attempts begun by this process

	mu    sync.Mutex // guards the maps, never held across a call to the share
	polls map[queue.Name]*poll
	done  map[*store.Holder]*done
}

// New makes a Spool. It touches nothing.
func New(c Config) *Spool {
	if c.Rand == nil {
		c.Rand = rand.Uint64
	}
	return &Spool{
		c:       c,
		folders: &folders{fs: c.FS, open: map[string]*folder{}},
		polls:   map[queue.Name]*poll{},
		done:    map[*store.Holder]*done{},
	}
}
