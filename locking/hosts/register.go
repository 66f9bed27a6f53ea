package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"qrunner/locking/fsys"
)

// Registration is this machine's hold of its name. Close it at the end.
type Registration struct {
	r       *Registry
	private string // our own name of the registered file
	ino     uint64

	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	timer  *time.Timer // nil once closed
}

// Register takes this host's name. While somebody else may have it, Register watches
// for as long as a stale registration takes to be proven so, or until ctx ends; a
// machine that is alive makes it fail with ErrDouble. A predecessor on this machine
// whose process is gone is replaced at once; one that runs gets five seconds to end.
func (r *Registry) Register(ctx context.Context) (*Registration, error) {
	cfg := r.cfg
	reg := &Registration{r: r, private: r.path("." + cfg.Self.Host + "." + cfg.Self.Nonce)}
	if err := reg.write(); err != nil {
		return nil, fmt.Errorf("register host %s: %w", cfg.Self.Host, err)
	}
	if err := reg.win(ctx); err != nil {
		_ = cfg.FS.Remove(reg.private)
		return nil, fmt.Errorf("register host %s: %w", cfg.Self.Host, err)
	}
	reg.ctx, reg.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	reg.mu.Lock()
	reg.timer = time.AfterFunc(cfg.Every, reg.beat)
	reg.mu.Unlock()
	return reg, nil
}

// Identity is what locks of this process are to be taken under.
func (g *Registration) Identity() Identity {
	id := g.r.cfg.Self
	id.Registered = true
	return id
}

// Context ends, with cause ErrDouble, when another machine took the name over.
func (g *Registration) Context() context.Context { return g.ctx }

// Close gives the name back. It leaves a successor's registration alone.
func (g *Registration) Close(ctx context.Context) error {
	g.mu.Lock()
	if g.timer == nil {
		g.mu.Unlock()
		return nil
	}
	g.timer.Stop()
	g.timer = nil
	g.mu.Unlock()
	g.cancel(context.Canceled)
	var err error
	if own, oerr := g.owns(); oerr == nil && own {
		err = fsys.RemoveAny(g.r.cfg.FS, g.r.path(g.r.cfg.Self.Host))
	}
	return errors.Join(err, fsys.RemoveAny(g.r.cfg.FS, g.private))
}

// write makes the private file, complete before it gets its second name.
func (g *Registration) write() error {
	f, err := g.r.create(g.private)
	if err != nil {
		return err
	}
	_, err = f.Write(encode(g.r.cfg.Self))
	st, serr := f.Stat()
	g.ino = st.Ino
	if err = errors.Join(err, serr, f.Close()); err != nil {
		_ = g.r.cfg.FS.Remove(g.private)
	}
	return err
}

// win gets the name onto our file.
func (g *Registration) win(ctx context.Context) error {
	var first *sight // what we have been watching, and since when
	var since time.Duration
	for {
		// The attempt also makes the look that follows a fresh one.
		err := g.r.cfg.FS.Link(g.private, g.r.path(g.r.cfg.Self.Host))
		if err != nil && !errors.Is(err, fs.ErrExist) && !fsys.Trouble(err) {
			return err
		}
		if own, oerr := g.owns(); oerr != nil {
			return oerr
		} else if own {
			return nil
		}
		s, err := g.r.look(g.r.cfg.Self.Host)
		switch {
		case fsys.Gone(err):
			continue
		case err != nil:
			return err
		case first == nil:
			first, since = &s, g.r.cfg.Mono()
		case !s.same(*first) && !g.local(s):
			return fmt.Errorf("%w (boot %s, pid %d)", ErrDouble, s.id.Boot, s.id.PID)
		}
		stale, err := g.stale(s, g.r.cfg.Mono()-since)
		if err != nil {
			return err
		}
		if stale {
			return g.replace(s)
		}
		if !sleep(ctx, g.pause(s)) {
			return context.Cause(ctx)
		}
	}
}

// local reports whether the registration s is of a process that Proc can look up.
func (g *Registration) local(s sight) bool {
	self := g.r.cfg.Self
	return s.valid && s.id.Boot == self.Boot && s.id.PIDNS == self.PIDNS && s.id.PIDNS != "" && s.id.PID > 1
}

// pause is how long to wait before the next look at s.
func (g *Registration) pause(s sight) time.Duration {
	if g.local(s) {
		return patience / 20
	}
	return g.r.cfg.Every / 2
}

// stale judges the registration s, which we have watched unchanged for so long.
func (g *Registration) stale(s sight, watched time.Duration) (bool, error) {
	if g.local(s) {
		gone, _ := g.r.cfg.Self.Gone(s.id, g.r.cfg.Proc)
		if !gone && watched >= patience {
			return false, &runningError{s.id.Host, s.id.PID}
		}
		return gone, nil
	}
	now, _, err := fsys.ServerNow(g.r.cfg.FS, g.private)
	if err != nil {
		return false, err
	}
	limit := staleBeats * g.r.cfg.Every
	if s.mtime.After(now.Add(g.r.cfg.Every)) { // a clock jumped: only our eyes count
		return watched >= limit, nil
	}
	return watched >= watchBeats*g.r.cfg.Every && now.Sub(s.mtime) >= limit, nil
}

// replace puts our file over the stale registration s. Two machines that do so at
// once both succeed in turn; the earlier one learns it at its next heartbeat.
func (g *Registration) replace(s sight) error {
	f, name := g.r.cfg.FS, g.r.path(g.r.cfg.Self.Host)
	if now, err := g.r.look(g.r.cfg.Self.Host); err != nil || !now.same(s) {
		return ErrDouble
	}
	second := g.private + ".second"
	if err := fsys.LinkNew(f, g.private, second); err != nil {
		return err
	}
	rerr := f.Rename(second, name)
	if err := fsys.RemoveAny(f, second); err != nil {
		return err
	}
	own, err := g.owns()
	switch {
	case err != nil:
		return err
	case own:
		if s.valid {
			_ = f.Remove(g.r.path("." + s.id.Host + "." + s.id.Nonce))
		}
		return nil
	case rerr != nil:
		return rerr
	}
	return ErrDouble
}

// owns reports whether the name is on our file: two links, and a listing that shows it.
func (g *Registration) owns() (bool, error) {
	_, st, err := fsys.ServerNow(g.r.cfg.FS, g.private)
	if fsys.Gone(err) || err == nil && st.Nlink < 2 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d, err := g.r.cfg.FS.OpenDir(g.r.cfg.Dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return false, err
	}
	list, err := d.ReadDir()
	e, ok := fsys.Find(list, g.r.cfg.Self.Host)
	return ok && e.Ino == g.ino, err
}

// beat is the heartbeat. Trouble of the share is no reason to give up: whoever finds
// the registration stale meanwhile takes the name, and the next beat sees that.
func (g *Registration) beat() {
	own, err := g.owns()
	if err != nil {
		g.r.cfg.Log.Warn("heartbeat", "host", g.r.cfg.Self.Host, "err", err)
	} else if !own {
		g.cancel(ErrDouble)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Reset(g.r.cfg.Every)
	}
}

// sleep waits for d, and reports whether ctx is still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
