// Package locking says what several hosts must agree on before one of them may
// work on a list or a delivery: who holds it now, and under which number.
//
// A Locker hands out Leases. A lease is held for a limited time and refreshed while
// it is held; whoever gets it later gets a larger Token, and the state behind the
// lock refuses a holder with an older one (the fence), so that even a mistaken
// lock does no harm. Two packages implement Locker: lockfile (an NFS-safe lock
// file) and zklock (ZooKeeper). locking/locktest is the suite both must pass.
//
// The package has no I/O and knows neither lists nor queues.
package locking

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Key names what is locked: one or more segments, separated by "/", each a plain
// file name. ParseKey makes one.
type Key string

// maxSegment leaves room within NAME_MAX (255) for what a Locker adds to a name.
const maxSegment = 128

// ParseKey checks that s can be a lock's name on every back end.
func ParseKey(s string) (Key, error) {
	for seg := range strings.SplitSeq(s, "/") {
		switch {
		case seg == "" || seg == "." || seg == "..":
			return "", fmt.Errorf("lock key %q: empty, \".\" or \"..\" segment", s)
		case len(seg) > maxSegment:
			return "", fmt.Errorf("lock key %q: segment longer than %d octets", s, maxSegment)
		case strings.ContainsFunc(seg, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return "", fmt.Errorf("lock key %q: control character", s)
		}
	}
	return Key(s), nil
}

// Mode says who may hold a lock together.
type Mode int

// The modes. Shared holders overlap each other, never an exclusive one.
const (
	Exclusive Mode = iota
	Shared
)

// String names the mode as the CLI prints it.
func (m Mode) String() string {
	if m == Shared {
		return "shared"
	}
	return "exclusive"
}

// Token is the number of a grant: the log index of the fence record behind it, or
// 0 where the caller passed no Fencer. It grows from grant to grant of one key.
type Token uint64

// Fencer makes an earlier holder's commits impossible. A Locker calls Fence once per
// grant, after the lock is won and before it verifies that it still owns it; the
// number that Fence returns becomes the lease's Token. Fence runs under the
// lease's context and must not use the lease.
type Fencer interface {
	Fence(ctx context.Context) (Token, error)
}

// Lease is a lock that is held now. All methods may be called from any goroutine.
type Lease interface {
	// Key is what is held.
	Key() Key
	// Token is this grant's number; 0 without a Fencer.
	Token() Token
	// Context ends, with cause ErrLost, before anyone else may judge the lease
	// expired, and with cause ErrReleased at Unlock. Work under the lease runs
	// under this context.
	Context() context.Context
	// Verify asks the lock's own storage whether the lease is still ours, and
	// returns ErrLost (wrapped) if not. A nil answer is worth something only
	// until the deadline that Context watches.
	Verify(ctx context.Context) error
	// Unlock gives the lease back. After a loss it returns ErrLost and leaves
	// the successor alone. Calling it twice returns ErrReleased.
	Unlock(ctx context.Context) error
}

// Locker is one way to hold leases: a set of keys shared by all hosts.
type Locker interface {
	// Lock waits until the key is ours, ctx ends, or an error that waiting
	// cannot mend. On error nothing of ours is left behind. When the time was up, a
	// *HeldError may stand beside the context's error.
	Lock(ctx context.Context, key Key, mode Mode, opts ...Option) (Lease, error)
	// TryLock does not wait: it returns *HeldError (errors.Is ErrHeld) if somebody
	// else holds the key. Tried again and again it does take over a dead
	// holder's lock: what it saw is remembered across calls.
	TryLock(ctx context.Context, key Key, mode Mode, opts ...Option) (Lease, error)
}

// Options is what a caller may ask of one grant; Lockers read it with Apply.
type Options struct {
	// Fencer is called at the grant; nil for none.
	Fencer Fencer
	// Lifetime is how long the lease lasts without a refresh; 0 means the
	// Locker's default.
	Lifetime time.Duration
	// Note is shown to whoever asks who holds the lock: one line, free text.
	Note string
}

// Option changes one of the Options.
type Option func(*Options)

// WithFencer passes the Fencer of the state behind the lock.
func WithFencer(f Fencer) Option { return func(o *Options) { o.Fencer = f } }

// WithLifetime sets the lease's lifetime, for work of another class than usual.
func WithLifetime(d time.Duration) Option { return func(o *Options) { o.Lifetime = d } }

// WithNote sets the line shown by inspection.
func WithNote(s string) Option { return func(o *Options) { o.Note = s } }

// Apply folds opts; for Lockers.
func Apply(opts []Option) Options {
	var o Options
	for _, f := range opts {
		f(&o)
	}
	return o
}

// States that callers branch on.
var (
	// ErrHeld: somebody else holds the key.
	ErrHeld = errors.New("lock is held")
	// ErrLost: the lease was ours and is no longer, or can no longer be shown to be.
	ErrLost = errors.New("lock was lost")
	// ErrReleased: the lease was given back by its own holder.
	ErrReleased = errors.New("lock was released")
	// ErrNotALock: something is under the lock's name that was never a lock; it
	// is left alone.
	ErrNotALock = errors.New("not a lock")
	// ErrModeUnsupported: this back end has no shared mode.
	ErrModeUnsupported = errors.New("lock mode is not supported")
	// ErrStealLost: a forced take-over found that the lock had moved on meanwhile.
	ErrStealLost = errors.New("lock changed hands meanwhile")
)

// Holder is what is known of whoever holds or awaits a lock. Fields that a back
// end cannot tell are zero.
type Holder struct {
	Host  string
	PID   int
	Note  string
	Since time.Time // when the lock was taken, by the server's clock
	Seen  time.Time // last refresh, by the server's clock
	Until time.Duration
}

// HeldError is the answer of TryLock when somebody else holds the key.
type HeldError struct {
	Key Key
	By  Holder
}

// Error names the key and, where known, the holder.
func (e *HeldError) Error() string {
	if e.By.Host == "" {
		return fmt.Sprintf("lock %s is held", e.Key)
	}
	s := fmt.Sprintf("lock %s is held by %s pid %d", e.Key, e.By.Host, e.By.PID)
	if e.By.Since.IsZero() {
		return s
	}
	return s + " since " + e.By.Since.Format(time.RFC3339)
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// With runs work while the key is held: the context-manager form. The context
// given to work ends with cause ErrLost when the lease is lost.
func With(ctx context.Context, l Locker, key Key, mode Mode, work func(context.Context) error) error {
	lease, err := l.Lock(ctx, key, mode)
	if err != nil {
		return err
	}
	wctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(lease.Context(), func() { cancel(context.Cause(lease.Context())) })
	err = work(wctx)
	stop()
	lost := context.Cause(wctx)
	cancel(nil)
	if uerr := lease.Unlock(context.WithoutCancel(ctx)); err == nil && uerr != nil {
		err = uerr
	}
	if err == nil && errors.Is(lost, ErrLost) {
		err = lost
	}
	return err
}
