package spool

import (
	"context"
	"errors"
	"log/slog"

	"qrunner/lists"
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
type Spool struct{ c Config }

// New makes a Spool. It touches nothing.
func New(c Config) *Spool { return &Spool{c: c} }

// Put makes an entry of e, which must have Queue and List, and returns its name. It
// fills e.ID, and e.Received where that is zero. When it returns nil the entry is
// on stable storage and visible; on an error e is unchanged and nothing that
// anybody would pick up was left, as far as the share allows (an fsync of the
// folder that fails leaves a doubt, settled towards removal).
func (s *Spool) Put(ctx context.Context, e *queue.Entry) (queue.ID, error) {
	return "", errors.ErrUnsupported
}

// Publish moves a complete, synced file or folder of the caller's own to its target
// (both from the share's root) and returns when that name is on stable storage.
// Calling it again after a crash is right: a source that is gone was published.
func (s *Spool) Publish(ctx context.Context, staged, target string) error {
	return errors.ErrUnsupported
}

// Lists is the poller's walk: the lists that have a folder in queue q. An idle call
// costs one listing.
func (s *Spool) Lists(ctx context.Context, q queue.Name) ([]lists.ID, error) {
	return nil, errors.ErrUnsupported
}

// IDs lists a folder afresh, oldest first. Names that are no entry's are among
// them, for Load to refuse; dot files and folders are not.
func (s *Spool) IDs(ctx context.Context, q queue.Name, list lists.ID) ([]queue.ID, error) {
	return nil, errors.ErrUnsupported
}

// Load reads an entry. Its errors are fs.ErrNotExist, *CorruptError (after a clean
// read only), ErrNewer, and troubles of the share.
func (s *Spool) Load(ctx context.Context, q queue.Name, list lists.ID, id queue.ID) (*queue.Entry, error) {
	return nil, errors.ErrUnsupported
}

// Tidy is called by the holder when a queue of its list looks empty: it removes the
// folder. False means that there is something in it after all: list it again.
func (s *Spool) Tidy(ctx context.Context, h *store.Holder, q queue.Name) (bool, error) {
	return false, errors.ErrUnsupported
}

// Recover finishes what former holders left: first the hand-overs that are open in
// the state, then stage folders of older grants that none of them names. The
// holder calls it after the grant, before it looks at any entry, and again after an
// Attempt whose Commit returned an error and left the lease intact.
func (s *Spool) Recover(ctx context.Context, h *store.Holder) error { return errors.ErrUnsupported }

// Release gives the lease back with the done marks that are still outstanding.
func (s *Spool) Release(ctx context.Context, h *store.Holder, extra ...store.Change) error {
	return errors.ErrUnsupported
}

// SweepTmp removes files that a crash left in tmp/, by age on the server's clock.
func (s *Spool) SweepTmp(ctx context.Context) error { return errors.ErrUnsupported }

// Key is an entry's name in the list's log: "<queue>/<list>/<entry>". Attempt marks
// (store.MarkAttempt) use it too.
func Key(q queue.Name, list lists.ID, id queue.ID) string {
	return string(q) + "/" + string(list) + "/" + string(id)
}
