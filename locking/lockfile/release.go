package lockfile

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"qrunner/locking/fsys"
)

// releaseTries is how often an owner asks for the ticket of its own lock.
const releaseTries = 4

// freshTries is how many base sleeps ago a waiter's last try may be; yieldLooks bounds
// how many claims are looked at for it.
const (
	freshTries = 20
	yieldLooks = 4
)

// errSlow: the share took so long that others may have overridden our ticket.
var errSlow = errors.New("the share is too slow to remove it safely, it is marked as released")

// outcome is what a release found.
type outcome struct {
	owner   bool // the lock was ours still
	foreign bool // others are waiting for it
}

// release gives a lock back. It removes the lock's name only with the incarnation's
// ticket in hand and after seeing its own file there; the claim goes in any case.
func (l *Locker) release(p paths, c *claim) (outcome, error) {
	var out outcome
	var t *ticket
	var err error
	for i := range releaseTries {
		if i > 0 {
			time.Sleep(l.cfg.Base)
		}
		if t, err = l.takeTicket(p, c.rec.Nonce, c.rec, 0); t != nil {
			break
		}
	}
	if t == nil {
		return l.mark(p, c, err)
	}
	var s standing
	for range verifyTries {
		if s, err = l.owns(p, c, true); err == nil {
			out.owner = out.owner || s.owner
			if !s.owner {
				break
			}
			if t.late() {
				err = errSlow
				break
			}
			// After an error of the remove only a look tells: a second one could
			// hit a successor's lock.
			if err = l.cfg.FS.Remove(p.lock()); err == nil || fsys.Gone(err) {
				err = nil
				break
			}
		}
		time.Sleep(l.cfg.Base / 10)
	}
	if err != nil {
		_ = l.cfg.FS.SetMtime(c.name, released()) // our own file: harms nobody
		err = fmt.Errorf("remove lock: %w", err)
	}
	t.drop()
	err = firstErr(err, fsys.RemoveAny(l.cfg.FS, c.name))
	if out.owner {
		out.foreign = l.awaited(p, c, s)
	}
	if p.nested && len(s.names) <= 4 { // the lock, our claim, our ticket
		_ = l.cfg.FS.Remove(p.dir) // fails unless it is empty
	}
	return out, err
}

// mark is what an owner does who cannot get the ticket of its own lock, because a
// breaker has it: it dates its file to the time that means "released".
func (l *Locker) mark(p paths, c *claim, err error) (outcome, error) {
	s, oerr := l.owns(p, c, true)
	if oerr == nil && s.owner {
		err = l.cfg.FS.SetMtime(c.name, released())
		l.cfg.Log.Warn("lock marked as released: its ticket is taken", "list", p.key)
	}
	err = firstErr(err, oerr, fsys.RemoveAny(l.cfg.FS, c.name))
	if err != nil {
		err = fmt.Errorf("mark lock as released: %w", err)
	}
	return outcome{owner: s.owner}, err
}

// awaited reports whether somebody else is trying for the lock: a claim in the folder
// that was touched a few tries ago at most.
func (l *Locker) awaited(p paths, c *claim, s standing) bool {
	looks := 0
	for _, e := range s.names {
		if e.Ino == c.ino || !strings.HasPrefix(e.Name, p.prefix+kindClaim) {
			continue // as most are, so that this is cheap
		}
		if n, ok := p.parse(e.Name); !ok || n.kind != kindClaim || e.Name == path.Base(c.name) {
			continue
		}
		if looks++; looks > yieldLooks {
			return true
		}
		f, err := l.cfg.FS.OpenFile(p.file(e.Name), os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		st, err := f.Stat()
		_ = f.Close()
		if err == nil && s.now.Sub(st.Mtime) < freshTries*l.cfg.Base {
			return true
		}
	}
	return false
}
