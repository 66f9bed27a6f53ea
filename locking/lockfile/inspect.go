package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// Inspect reports who holds key and who waits for it. It changes nothing in the lock's
// folder; to learn the server's time it makes and removes a file in the root.
// On NFS what it sees may be some seconds old.
func (l *Locker) Inspect(ctx context.Context, key locking.Key) (locking.Report, error) {
	p, err := l.paths(key)
	if err != nil {
		return locking.Report{}, err
	}
	r := locking.Report{Key: key, State: locking.StateFree, Why: "nobody holds it", Would: "nothing: there is no lock"}
	names, err := l.cfg.FS.ReadDir(p.dir)
	if fsys.Gone(err) {
		return r, nil
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return r, fmt.Errorf("inspect lock %s: %w", key, err)
	}
	r.Now = l.serverTime(p)
	s, err := l.look(p.lock())
	switch {
	case fsys.Gone(err):
	case errors.Is(err, locking.ErrNotALock):
		r.State, r.Why = locking.StateNotALock, "what has the lock's name was never a lock"
		r.Would = "nothing: it is left alone"
	case err != nil:
		return r, fmt.Errorf("inspect lock %s: %w", key, err)
	default:
		l.describe(&r, s)
	}
	l.others(&r, p, names, s)
	return r, nil
}

// describe fills in what a sight says.
func (l *Locker) describe(r *locking.Report, s sight) {
	r.State, r.Holder, r.Torn = locking.StateHeld, s.holder(), !s.valid
	life := l.cfg.Lifetime
	if s.valid {
		life = s.rec.Lifetime
	}
	v := l.judge(s, s.mtime, 0) // by what needs no clock
	if v.reason == NotStale && !r.Now.IsZero() {
		v = l.judge(s, r.Now, 0)
	}
	if !r.Now.IsZero() {
		r.Age = r.Now.Sub(s.mtime)
		r.Holder.Until = life - r.Age
	}
	r.Reason, r.Why = string(v.reason), v.why
	switch {
	case v.pending:
		r.State, r.Reason = locking.StateStale, string(Expired)
		r.Would = fmt.Sprintf("watch it for %v, and take it over if nothing changes", life)
	case v.reason != NotStale:
		r.State = locking.StateStale
		r.Would = "take it over and give it back at once"
	default:
		r.Would = "nothing: it is held"
	}
}

// others fills in the waiters and tickets.
func (l *Locker) others(r *locking.Report, p paths, names []fsys.DirEntry, s sight) {
	for _, e := range names {
		n, ok := p.parse(e.Name)
		if !ok {
			continue
		}
		switch {
		case n.kind == kindTicket:
			r.Tickets++
		case n.kind == kindClaim && e.Ino != s.ino:
			h := locking.Holder{Host: n.host, PID: n.pid}
			if st, err := l.cfg.FS.Stat(p.file(e.Name)); err == nil {
				h.Seen = st.Mtime
			}
			r.Waiters = append(r.Waiters, h)
		}
	}
}

// serverTime makes a file in the root to see what time the server thinks it is; zero on
// error.
func (l *Locker) serverTime(p paths) time.Time {
	p = paths{dir: l.cfg.Root, prefix: p.prefix}
	f, name, err := l.create(p, kindTk)
	if err != nil {
		return time.Time{}
	}
	st, err := f.Stat()
	_ = f.Close()
	_ = l.cfg.FS.Remove(name)
	if err != nil {
		return time.Time{}
	}
	return st.Mtime
}

// List returns the keys that are locked, in the order of their names.
func (l *Locker) List(ctx context.Context) ([]locking.Key, error) {
	if l.cfg.Plain {
		return nil, fmt.Errorf("list locks: plain ones cannot be told from other files: %w", errors.ErrUnsupported)
	}
	keys, err := l.list1(ctx, l.cfg.Root, nil)
	if err != nil {
		return nil, fmt.Errorf("list locks: %w", err)
	}
	return keys, nil
}

func (l *Locker) list1(ctx context.Context, dir string, keys []locking.Key) ([]locking.Key, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	names, err := l.cfg.FS.ReadDir(dir)
	if fsys.Gone(err) {
		return keys, nil
	}
	if err != nil {
		return nil, err
	}
	base := strings.TrimPrefix(strings.TrimPrefix(dir, l.cfg.Root), "/")
	for _, e := range names {
		n, ours := parseName(e.Name)
		switch {
		case ours && n.kind == kindLock && base != "":
			keys = append(keys, locking.Key(path.Join(base, strings.TrimPrefix(n.suffix, "="))))
		case !ours && l.isDir(dir+"/"+e.Name, e.Type):
			if keys, err = l.list1(ctx, dir+"/"+e.Name, keys); err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// isDir asks the server where a listing left the type open.
func (l *Locker) isDir(name string, typ fs.FileMode) bool {
	if typ != 0 {
		return typ.IsDir()
	}
	st, err := l.cfg.FS.Stat(name)
	return err == nil && st.Mode.IsDir()
}
