package lockfile

import (
	"path"
	"time"

	"qrunner/locking/fsys"
)

// maxSweep bounds the files that one grant looks at.
const maxSweep = 64

// sweep removes what crashed processes left in the lock's folder, rarely, while we hold
// the lock: private files of owners that are certainly gone or too old to matter, and
// old tickets of incarnations that are over. Names that are not ours (.nfs...) stay. It
// reports whether it looked at any, which may have taken long.
func (l *Locker) sweep(a *attempt, s standing) bool {
	m := &a.slot.memory
	if m.isSwept && l.cfg.Mono()-m.swept < l.cfg.SweepEvery {
		return false
	}
	looked := 0
	for _, e := range s.names {
		if e.Ino == a.claim.ino || e.Name == path.Base(a.claim.name) {
			continue
		}
		n, ok := a.parse(e.Name)
		if !ok || n.kind == kindLock || n.nonce == a.claim.rec.Nonce {
			continue
		}
		if looked++; looked > maxSweep {
			return true
		}
		if l.leftOver(a.file(e.Name), n, s.now) && l.cfg.FS.Remove(a.file(e.Name)) == nil {
			l.counted(func(st *Stats) { st.Swept++ })
		}
	}
	if looked > 0 {
		m.isSwept, m.swept = true, l.cfg.Mono()
	}
	return looked > 0
}

// leftOver reports whether nobody will miss the file.
func (l *Locker) leftOver(name string, n fileName, now time.Time) bool {
	st, err := l.cfg.FS.Stat(name)
	if err != nil {
		return false
	}
	if now.Sub(st.Mtime) > l.cfg.SweepAge {
		return true
	}
	if n.kind == kindTicket || n.kind == kindTk || n.host != l.cfg.Host.Host {
		return false
	}
	c, err := l.look(name)
	if fsys.Gone(err) || err != nil || !c.valid {
		return false
	}
	gone, _ := l.cfg.Host.Gone(c.rec.Owner, l.cfg.Proc)
	return gone
}
