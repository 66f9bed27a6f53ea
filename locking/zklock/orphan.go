package zklock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// orphan is a node of ours that has to go: one that is given back, or one of which it is
// not even known whether it was made.
type orphan struct {
	dir, guid string
	name      string          // "" while it is not known
	after     <-chan struct{} // not before this; nil for at once
	delay     time.Duration   // nor before so much time
	doubt     bool            // it may be removed already, by us
}

// abandon gives our node up. after, if not nil, is when the create has been answered. It
// waits for the removal, but not for long: if no server is there to do it, it is
// seen to in the background.
func (a *attempt) abandon(after <-chan struct{}) {
	if a.guid == "" {
		return
	}
	done := a.l.reap(orphan{dir: a.dir, guid: a.guid, name: a.own.name, after: after})
	a.guid, a.own = "", node{}
	t := time.NewTimer(a.l.cfg.SessionTimeout / beatParts)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// errGone: the node was gone before we removed it.
var errGone = errors.New("node is gone")

// reap removes a node in the background, however long that takes; it gives up only at
// Close, when the session takes the node along. The result, one, is nil if it was
// we who removed it, and errGone if it was not there. A create that was not found is
// looked for once more, much later: it may have been on its way, in a connection that
// we had given up, to the very server that we turned to again.
func (l *Locker) reap(o orphan) <-chan error {
	done := make(chan error, 1)
	ok := l.s.spawn(func() {
		err := l.bury(o)
		done <- err
		if o.name == "" && errors.Is(err, errGone) && sleep(l.s.life, l.cfg.SessionTimeout) {
			_ = l.bury(o)
		}
	})
	if !ok {
		done <- ErrClosed
	}
	return done
}

func (l *Locker) bury(o orphan) error {
	ctx := l.s.life
	if o.after != nil {
		select {
		case <-o.after:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if o.delay > 0 && !sleep(ctx, o.delay) {
		return context.Cause(ctx)
	}
	for try := 0; ; try++ {
		err := l.buryOnce(ctx, o)
		switch {
		case errors.Is(err, errGone) && o.doubt:
			return nil // by us, perhaps: an answer was lost
		case err == nil || errors.Is(err, errGone) || l.s.life.Err() != nil:
			return err
		case !passes(err) && try == 0:
			l.cfg.Log.Warn("remove lock node", "entry", o.dir, "err", err)
		}
		o.doubt = o.name != ""
		l.counted(func(s *Stats) { s.Orphans++ })
		if !sleep(ctx, min(pause<<min(try, 20), l.cfg.SessionTimeout/beatParts)) {
			return context.Cause(ctx)
		}
	}
}

// buryOnce tries to remove the node, after finding out its name if that is not known.
func (l *Locker) buryOnce(ctx context.Context, o orphan) error {
	if _, err := l.s.ready(ctx); err != nil {
		return err
	}
	name := o.name
	if name == "" {
		names, err := l.fresh(ctx, o.dir)
		if err != nil {
			return gone(err)
		}
		i := slices.IndexFunc(names, func(s string) bool { return strings.HasPrefix(s, o.guid) })
		if i < 0 {
			return errGone
		}
		name = names[i]
	}
	_, err := remove(join(o.dir, name))(l.s.conn) // ctx is the Locker's, whose end ends this
	return gone(err)
}

// gone says errGone for a node that is not there.
func gone(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return errGone
	}
	return err
}
