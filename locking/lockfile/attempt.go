package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// attempt is one call's way to a lock. It is used by one goroutine, which is inside
// the key's slot.
type attempt struct {
	paths
	l      *Locker
	slot   *slot
	opts   locking.Options
	leave  func()        // gives the local gate back; nil without
	began  time.Duration // by Mono
	claim  *claim        // nil before the first try, and after a claim is used up
	t0     time.Duration // by Mono, before the last try's first call
	now    time.Time     // the server's time, as of the last try
	unsure bool          // the last try's outcome could not be seen
	handed bool          // claim is the lock already: another goroutine handed it over
	broke  *broken       // the lock that we took over, until its remains are cleared away
}

// errRaced: the lock was won and gone again before it could be handed out.
var errRaced = errors.New("lock was lost before it was granted")

// attempt checks what a caller asks for.
func (l *Locker) attempt(key locking.Key, mode locking.Mode, opts []locking.Option) (*attempt, error) {
	p, err := l.paths(key)
	if err != nil {
		return nil, err
	}
	if mode != locking.Exclusive && !l.cfg.SharedAsExclusive {
		return nil, fmt.Errorf("lock %s %v: %w", key, mode, locking.ErrModeUnsupported)
	}
	a := &attempt{paths: p, l: l, opts: locking.Apply(opts), began: l.cfg.Mono()}
	if a.opts.Lifetime == 0 {
		a.opts.Lifetime = l.cfg.Lifetime
	}
	if err := checkLifetime(a.opts.Lifetime); err != nil {
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	return a, nil
}

// try links our claim to the lock's name, and believes only the number of links that
// the claim has afterwards: a lost answer makes a link that was done fail. Without look
// it leaves that for later when the answer is that the name is taken, which it is
// nearly always.
func (a *attempt) try(look bool) (won bool, err error) {
	l := a.l
	for range folderTries {
		if a.claim == nil {
			if a.claim, err = l.newClaim(a.paths, a.opts.Lifetime, a.opts.Note); err != nil {
				return false, err
			}
		}
		l.counted(func(s *Stats) { s.Tries++ })
		a.t0 = l.cfg.Mono()
		lerr := l.cfg.FS.Link(a.claim.name, a.lock())
		if !look && errors.Is(lerr, fs.ErrExist) {
			a.unsure = true
			return false, nil
		}
		links, now, terr := l.touch(a.claim)
		a.unsure = terr != nil
		if terr == nil {
			a.now = now
		}
		switch {
		case fsys.Gone(terr): // swept away, or its folder was
			a.drop()
			err = terr
		case terr != nil:
			return false, nil // the next try, or the end, looks again
		case links >= 2:
			if lerr != nil {
				l.counted(func(s *Stats) { s.LostReplies++ })
			}
			return true, nil
		case lerr == nil: // linked, and gone from there already
			a.drop()
			return false, nil
		case fsys.Gone(lerr):
			a.drop()
			err = lerr
		case hopeless(lerr):
			return false, lerr
		default:
			return false, nil
		}
	}
	return false, err
}

// hopeless reports whether a link that failed with err will always fail. Trouble of the
// kind that passes (EIO, ESTALE, ETIMEDOUT) is none.
func hopeless(err error) bool {
	if errors.Is(err, fs.ErrExist) {
		return false
	}
	for _, e := range []syscall.Errno{
		syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMLINK,
		syscall.EXDEV, syscall.ENOTSUP, syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EINVAL, syscall.ENOSYS,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// drop removes a claim that is used up.
func (a *attempt) drop() {
	if a.claim != nil {
		_ = fsys.RemoveAny(a.l.cfg.FS, a.claim.name)
		a.claim = nil
	}
}

// abandon ends an attempt that failed: nothing of it stays.
func (a *attempt) abandon() {
	if a.claim != nil && a.unsure {
		links, _, err := a.l.touch(a.claim)
		if a.handed || err == nil && links >= 2 {
			_, _ = a.l.release(a.paths, a.claim)
		}
	}
	a.drop()
	a.l.handOver(a.slot, a.leave, false)
}

// round is one try, with an examination if one is due; alone says that there is no
// other. It returns nil and no error if the lock is somebody else's.
func (a *attempt) round(ctx context.Context, alone bool) (*Lease, error) {
	won, err := a.handed, error(nil)
	if a.handed = false; !won {
		due := a.slot.due(a.l.cfg.ExamineEvery, alone)
		won, err = a.try(due || alone)
		if err == nil && !won && due {
			won, err = a.examine()
		}
	}
	if err != nil || !won {
		return nil, err
	}
	le, err := a.grant(ctx)
	if errors.Is(err, errRaced) {
		return nil, nil
	}
	return le, err
}

// wait tries until the lock is ours.
func (a *attempt) wait(ctx context.Context) (*Lease, error) {
	for {
		le, err := a.round(ctx, false)
		if le != nil {
			return le, nil
		}
		if err == nil && !sleep(ctx, a.l.jitter()) {
			err = a.timedOut(context.Cause(ctx))
		}
		if err != nil {
			a.abandon()
			return nil, fmt.Errorf("lock %s: %w", a.key, err)
		}
	}
}

// timedOut adds to the cause that ended the wait, if the time was up, who has the lock.
func (a *attempt) timedOut(cause error) error {
	if !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	if s, err := a.l.look(a.lock()); err == nil && s.valid {
		return fmt.Errorf("%w: %w", cause, &locking.HeldError{Key: a.key, By: s.holder()})
	}
	return cause
}

// once tries without waiting.
func (a *attempt) once(ctx context.Context) (*Lease, error) {
	le, err := a.round(ctx, true)
	if le != nil {
		return le, nil
	}
	if err == nil {
		held := &locking.HeldError{Key: a.key}
		if s := a.slot.seen; s != nil {
			held.By = s.holder()
		}
		err = held
	} else {
		err = fmt.Errorf("lock %s: %w", a.key, err)
	}
	a.abandon()
	return nil, err
}
