package store

import (
	"context"
	"errors"
	"iter"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
)

// Open returns the Store of a share. It does no I/O.
func Open(c Config) *Store { return &Store{c} }

// Lists names every list, by a fresh listing, in order; lists.Site is not among them.
func (s *Store) Lists(ctx context.Context) ([]lists.ID, error) { return nil, errors.ErrUnsupported }

// Exists says whether there is such a list. "No" is certain.
func (s *Store) Exists(ctx context.Context, id lists.ID) (bool, error) {
	return false, errors.ErrUnsupported
}

// Resolve says what a recipient address means.
func (s *Store) Resolve(ctx context.Context, a mailaddr.Address) (lists.Target, error) {
	return lists.Target{}, errors.ErrUnsupported
}

// Create makes a list.
func (s *Store) Create(ctx context.Context, id lists.ID, by By, cs ...Change) error {
	return errors.ErrUnsupported
}

// Delete ends a list.
func (s *Store) Delete(ctx context.Context, id lists.ID, by By) error { return errors.ErrUnsupported }

// Read gives a list's newest state.
func (s *Store) Read(ctx context.Context, id lists.ID) (*State, error) {
	return nil, errors.ErrUnsupported
}

// Lock waits for the list's lock.
func (s *Store) Lock(ctx context.Context, id lists.ID, note string) (*Holder, error) {
	return nil, errors.ErrUnsupported
}

// TryLock does not wait.
func (s *Store) TryLock(ctx context.Context, id lists.ID, note string) (*Holder, error) {
	return nil, errors.ErrUnsupported
}

// Records calls fn with each record that is still kept, oldest first.
func (s *Store) Records(ctx context.Context, id lists.ID, fn func(Record) error) error {
	return errors.ErrUnsupported
}

// Holder is a list that this process may change.
type Holder struct{}

// ID names the list.
func (h *Holder) ID() lists.ID { return "" }

// State is the list as it is now.
func (h *Holder) State() *State { return nil }

// Token is the grant's number.
func (h *Holder) Token() locking.Token { return 0 }

// Context ends when the lease does.
func (h *Holder) Context() context.Context { return nil }

// Unclean says that the grant before this one ended without a release record.
func (h *Holder) Unclean() bool { return false }

// Commit makes changes, all or none.
func (h *Holder) Commit(ctx context.Context, by By, cs ...Change) error { return errors.ErrUnsupported }

// Delete ends the list.
func (h *Holder) Delete(ctx context.Context, by By) error { return errors.ErrUnsupported }

// Verify asks whether the lease is still ours.
func (h *Holder) Verify(ctx context.Context) error { return errors.ErrUnsupported }

// Release gives the list back.
func (h *Holder) Release(ctx context.Context, cs ...Change) error { return errors.ErrUnsupported }

// Import adds many members by one commit.
func (h *Holder) Import(ctx context.Context, by By, members iter.Seq[lists.Member], progress func(n int)) error {
	return errors.ErrUnsupported
}
