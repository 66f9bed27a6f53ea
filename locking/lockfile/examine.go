package lockfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// sight is a lock as it looked at one moment.
type sight struct {
	rec   record
	valid bool   // rec could be read
	nonce string // names the incarnation; of a torn record made from its file
	ino   uint64
	mtime time.Time
}

// same reports whether nothing happened between two sights, not even a refresh. The
// nonce is what counts: file numbers and times are soon used again.
func (s sight) same(o sight) bool {
	return s.nonce == o.nonce && s.ino == o.ino && s.mtime.Equal(o.mtime)
}

// holder is what a sight tells about the lock's holder.
func (s sight) holder() locking.Holder {
	return locking.Holder{
		Host: s.rec.Owner.Host, PID: s.rec.Owner.PID, Note: s.rec.Note,
		Since: s.rec.Since, Seen: s.mtime,
	}
}

// released is the mtime by which a holder marks a lock that it could not remove.
func released() time.Time { return time.Unix(0, 0) }

// look reads the file under a lock's or claim's name: open, read, close, for while it
// is open here a rename over it would not be atomic on this host. The caller has
// just failed to link onto the name, which is what makes the open a fresh one.
func (l *Locker) look(name string) (sight, error) {
	// O_NONBLOCK: a FIFO put there by somebody must not stop us.
	f, err := l.cfg.FS.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return sight{}, fmt.Errorf("%s: %w", name, locking.ErrNotALock)
	}
	if err != nil {
		return sight{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return sight{}, err
	}
	if !st.Mode.IsRegular() || st.Size > maxRecord {
		return sight{}, fmt.Errorf("%s: %w", name, locking.ErrNotALock)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return sight{}, err
	}
	s := sight{ino: st.Ino, mtime: st.Mtime}
	s.rec, err = decode(data)
	switch {
	case errors.Is(err, errForeign):
		return sight{}, fmt.Errorf("%s: %w", name, locking.ErrNotALock)
	case err != nil:
		// Device numbers differ between hosts; this name must not.
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", s.ino, s.mtime.UnixNano()))
		s.nonce = hex.EncodeToString(sum[:16])
	default:
		s.valid, s.nonce = true, s.rec.Nonce
	}
	return s, nil
}

// verdict says whether a lock counts as abandoned, and why.
type verdict struct {
	reason Reason
	why    string
	// pending: over by the server's clock, but we have not watched it for long
	// enough ourselves.
	pending bool
}

// judge decides over a lock that we have watched unchanged for so long, at the
// server's time now.
//
// A lifetime that is over by the server's clock is not enough: that clock can jump.
// So we must also have seen the lock unchanged for a whole lifetime: its holder has
// then stopped, by its own clock, before.
func (l *Locker) judge(s sight, now time.Time, watched time.Duration) verdict {
	if s.mtime.Equal(released()) {
		return verdict{reason: Released, why: "its holder marked it as released"}
	}
	life := l.cfg.Lifetime
	if s.valid {
		life = s.rec.Lifetime
		if gone, why := l.cfg.Host.Gone(s.rec.Owner, l.cfg.Proc); gone {
			return verdict{reason: Dead, why: why}
		}
	}
	age := now.Sub(s.mtime)
	if age < -l.cfg.Slop {
		if watched >= life+l.cfg.Slop {
			return verdict{reason: Expired, why: "dated in the future, and unchanged for its lifetime before our eyes"}
		}
		return verdict{why: "dated in the future: the server's clock was put back"}
	}
	if age <= life+l.cfg.Slop {
		return verdict{why: fmt.Sprintf("refreshed %v ago, good for %v", age.Round(time.Second), life)}
	}
	if watched < life {
		return verdict{pending: true, why: fmt.Sprintf(
			"not refreshed for %v, more than its %v; but watched for %v only", age.Round(time.Second), life, watched.Round(time.Second))}
	}
	return verdict{reason: Expired, why: fmt.Sprintf("not refreshed for %v, more than its %v", age.Round(time.Second), life)}
}

// observe looks at the lock and judges it by what the memory has of earlier looks.
func (a *attempt) observe() (sight, verdict, error) {
	l, m := a.l, &a.slot.memory
	before := l.cfg.Mono()
	s, err := l.look(a.lock())
	if err != nil {
		return s, verdict{}, err
	}
	l.counted(func(st *Stats) { st.Examined++ })
	if m.seen == nil || !m.seen.same(s) {
		m.seen, m.since, m.tickets = &s, l.cfg.Mono(), nil
		return s, l.judge(s, a.now, 0), nil
	}
	return s, l.judge(s, a.now, before-m.since), nil
}

// examine looks at a lock that we failed to get, and takes it over if it counts as
// abandoned. It reports whether the lock is ours now.
func (a *attempt) examine() (bool, error) {
	s, v, err := a.observe()
	switch {
	case fsys.Gone(err):
		return a.try(true) // given back since our try
	case errors.Is(err, locking.ErrNotALock):
		return false, err
	case err != nil:
		if a.slot.memory.news(a.l.cfg.Mono()) {
			a.l.cfg.Log.Warn("examine lock", "list", a.key, "err", err)
		}
		return false, nil
	case v.reason == NotStale:
		return false, nil
	}
	return a.takeOver(s, v)
}
