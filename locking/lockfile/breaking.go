package lockfile

import (
	"path"
	"time"

	"qrunner/locking/fsys"
)

// maxTakeovers bounds the breakers that may die in the middle of closing one
// incarnation of a lock before it needs an operator.
const maxTakeovers = 9

// ticket is the right to close one incarnation of a lock: to remove it, for its
// owner, or to rename over it. link(2) gives it to one process only.
type ticket struct {
	l       *Locker
	private string
	name    string
	since   time.Duration // by Mono, before it was taken
	good    time.Duration // from then on others may believe its holder dead
}

// takeover is the age at which a ticket for that incarnation may be overridden. It is the
// same on all hosts: what it depends on stands in the incarnation's record, or is alike
// on all of them. A lock that is abandoned after a short silence, because stalls
// are short where it is used, has no breaker that is waited for longer than that.
func (l *Locker) takeover(r record) time.Duration {
	if r.Lifetime == 0 { // torn
		return l.cfg.Takeover
	}
	return min(l.cfg.Takeover, r.Lifetime+l.cfg.Slop)
}

// takeTicket takes the ticket number k for the incarnation that has the nonce and the
// record; nil if it is taken.
func (l *Locker) takeTicket(p paths, nonce string, r record, k int) (*ticket, error) {
	t := &ticket{l: l, name: p.ticket(nonce, k), since: l.cfg.Mono(), good: l.takeover(r)}
	f, private, err := l.create(p, kindTk)
	if err != nil {
		return nil, err
	}
	t.private = private
	st, err := f.Stat()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		if lerr := l.cfg.FS.Link(private, t.name); lerr == nil {
			return t, nil
		}
		// The call's own answer proves nothing; our file's links do.
		var links uint64
		if links, _, err = l.touch(&claim{name: private, ino: st.Ino}); err == nil && links == 2 {
			l.counted(func(s *Stats) { s.LostReplies++ })
			return t, nil
		}
	}
	_ = fsys.RemoveAny(l.cfg.FS, private)
	return nil, err
}

// drop gives the ticket up, or clears it away when it has served.
func (t *ticket) drop() {
	_ = fsys.RemoveAny(t.l.cfg.FS, t.name)
	_ = fsys.RemoveAny(t.l.cfg.FS, t.private)
}

// late reports whether others may soon believe the ticket's holder dead.
func (t *ticket) late() bool { return t.l.cfg.Mono()-t.since >= t.good/2 }

// breakTicket takes a ticket for s: the first, or the next after one whose holder
// died with it. Nil means not now.
func (a *attempt) breakTicket(s sight) (*ticket, int, error) {
	l, m := a.l, &a.slot.memory
	takeover := l.takeover(s.rec)
	for k := range maxTakeovers + 1 {
		t, err := l.takeTicket(a.paths, s.nonce, s.rec, k)
		if t != nil || err != nil {
			return t, k, err
		}
		st, err := l.cfg.FS.Stat(a.ticket(s.nonce, k)) // fresh, after our own failing link
		if fsys.Gone(err) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		w, known := m.tickets[k]
		if !known || w.ino != st.Ino || !w.mtime.Equal(st.Mtime) {
			if m.tickets == nil {
				m.tickets = map[int]watch{}
			}
			m.tickets[k] = watch{st.Ino, st.Mtime, l.cfg.Mono()}
			return nil, 0, nil
		}
		if a.now.Sub(st.Mtime) < takeover || l.cfg.Mono()-w.since < takeover {
			return nil, 0, nil
		}
	}
	l.cfg.Log.Error("lock cannot be broken: every breaker died; remove its tickets", "list", a.key)
	return nil, 0, nil
}

// broken is a lock that we took over.
type broken struct {
	sight
	verdict
	ticket *ticket // nil when it is cleared away
	k      int
}

// takeOver puts our claim in the place of the lock s. It reports whether the lock is
// ours now.
func (a *attempt) takeOver(s sight, v verdict) (won bool, err error) {
	t, k, err := a.breakTicket(s)
	if t == nil || err != nil {
		return false, err
	}
	if won, err = a.try(true); won || err != nil || a.claim == nil {
		t.drop() // it was given back meanwhile
		return won, err
	}
	now, err := a.l.look(a.lock())
	if err != nil || !now.same(s) || t.late() {
		t.drop()
		if fsys.Gone(err) {
			err = nil
		}
		return false, err
	}
	if won = a.renameOver(t); !won {
		t.drop()
		a.drop() // it had a second name
		return false, nil
	}
	a.broke = &broken{s, v, t, k}
	return true, nil
}

// renameOver gives the claim its second name, moves that over the lock, and counts only
// when the second name is certainly gone.
func (a *attempt) renameOver(t *ticket) bool {
	l := a.l
	second := l.private(a.paths, kindSecond)
	if err := fsys.LinkNew(l.cfg.FS, a.claim.name, second); err != nil {
		l.cfg.Log.Warn("break lock", "list", a.key, "err", err)
		_ = fsys.RemoveAny(l.cfg.FS, second)
		return false
	}
	if t.late() {
		_ = fsys.RemoveAny(l.cfg.FS, second)
		return false
	}
	t0 := l.cfg.Mono()
	rerr := l.cfg.FS.Rename(second, a.lock())
	uerr := fsys.RemoveAny(l.cfg.FS, second)
	s, err := l.owns(a.paths, a.claim, true)
	if err != nil || uerr != nil {
		// Unknown: the next examination will see. If the lock is ours after all
		// nobody refreshes it, and it expires.
		l.cfg.Log.Warn("break lock", "list", a.key, "err", firstErr(rerr, uerr, err))
		return false
	}
	if s.owner {
		a.t0, a.now = t0, s.now
		if rerr != nil {
			l.counted(func(st *Stats) { st.LostReplies++ })
		}
	}
	return s.owner
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// clearBroken removes what the broken lock's holder left, and the tickets up to ours. It
// reports whether there was something to do.
func (a *attempt) clearBroken() bool {
	b := a.broke
	if b == nil || b.ticket == nil {
		return false
	}
	f := a.l.cfg.FS
	if n, ok := a.parse(b.rec.Claim); b.valid && ok && n.kind == kindClaim &&
		path.Base(b.rec.Claim) == b.rec.Claim {
		name := a.file(b.rec.Claim)
		if st, err := f.Stat(name); err == nil && st.Ino == b.ino {
			_ = fsys.RemoveAny(f, name)
		}
	}
	for k := range b.k {
		_ = fsys.RemoveAny(f, a.ticket(b.nonce, k))
	}
	b.ticket.drop()
	b.ticket = nil
	return true
}
