package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// attempt is one call's way to a lock. It is used by one goroutine.
type attempt struct {
	l       *Locker
	key     locking.Key
	mode    locking.Mode
	opts    locking.Options
	dir     string        // the lock's node
	began   time.Duration // by Mono
	guid    string        // of our node; "" when there is none
	own     node
	session int64 // that our node belongs to
}

// attempt checks what a caller asks for.
func (l *Locker) attempt(key locking.Key, mode locking.Mode, opts []locking.Option) (*attempt, error) {
	dir, err := l.dir(key)
	if err != nil {
		return nil, err
	}
	if mode != locking.Exclusive && mode != locking.Shared {
		return nil, fmt.Errorf("lock %s: mode %d: %w", key, mode, locking.ErrModeUnsupported)
	}
	a := &attempt{l: l, key: key, mode: mode, opts: locking.Apply(opts), dir: dir, began: l.cfg.Mono()}
	if a.opts.Lifetime < 0 {
		return nil, fmt.Errorf("lock %s: lifetime %v: must be positive", key, a.opts.Lifetime)
	}
	return a, nil
}

// path is our node.
func (a *attempt) path() string { return join(a.dir, a.own.name) }

// enter creates our node, in whatever session there is in the end. On error no node is
// left that is not being followed up.
func (a *attempt) enter(ctx context.Context) error {
	for try := 0; ; try++ {
		again, err := a.create(ctx)
		if !again || err != nil {
			return err
		}
		if try > 0 && !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// create tries once to create our node. again: there is none, and it may be tried again.
func (a *attempt) create(ctx context.Context) (again bool, err error) {
	l, s := a.l, a.l.s
	if a.session, err = s.ready(ctx); err != nil {
		return false, err
	}
	a.guid = random()
	answered := make(chan struct{})
	name := join(a.dir, prefix(l.cfg.Naming, a.guid, a.mode))
	data := owner{Host: l.cfg.Host.Host, PID: l.cfg.Host.PID, Note: a.opts.Note}.encode()
	t0 := l.cfg.Mono()
	created, err := call(ctx, s, func(c *zk.Conn) (string, error) { // may outlive us
		defer close(answered)
		return c.Create(name, data, zk.FlagEphemeralSequential, l.cfg.acl())
	})
	switch {
	case err == nil:
		return a.created(created, t0)
	case ctx.Err() != nil:
		a.abandon(answered)
		return false, err
	case errors.Is(err, zk.ErrNoNode):
		return true, l.makeDir(ctx, a.dir)
	case s.life.Err() != nil:
		return false, context.Cause(s.life)
	case unsent(err):
		return true, nil
	case passes(err):
		return a.find(ctx)
	}
	return false, fmt.Errorf("create node: %w", err)
}

// created takes the node that the server has named. One that was made in a later session
// than we thought, because the request had to wait for a connection, is given up.
func (a *attempt) created(name string, t0 time.Duration) (again bool, err error) {
	var ok bool
	if a.own, ok = parseNode(path.Base(name)); !ok {
		a.abandon(nil)
		return false, fmt.Errorf("create node: unexpected name %q", name)
	}
	if a.l.s.conn.SessionID() != a.session {
		a.abandon(nil)
		return true, nil
	}
	a.l.s.proved(a.session, t0)
	return false, nil
}

// find looks whether a create was done whose answer was lost.
func (a *attempt) find(ctx context.Context) (again bool, err error) {
	l := a.l
	for try := 0; ; try++ {
		again, err = a.findOnce(ctx)
		if err == nil || !passes(err) || l.s.life.Err() != nil {
			break
		}
		if try > 0 && !sleep(ctx, pause) {
			err = context.Cause(ctx)
			break
		}
	}
	if err != nil || again {
		a.abandon(nil)
	}
	return again, err
}

func (a *attempt) findOnce(ctx context.Context) (again bool, err error) {
	s := a.l.s
	now, err := s.ready(ctx)
	if err != nil {
		return false, err
	}
	if now != a.session {
		return true, nil // if it was made, it dies with its session
	}
	names, err := a.l.fresh(ctx, a.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, name := range names {
		n, ok := parseNode(name)
		if !ok || !strings.HasPrefix(name, a.guid) {
			continue
		}
		c, err := call(ctx, s, get(join(a.dir, name)))
		if err != nil {
			return errors.Is(err, zk.ErrNoNode), ignore(err, zk.ErrNoNode)
		}
		if c.stat.EphemeralOwner != a.session {
			return true, nil
		}
		a.own = n
		a.l.counted(func(s *Stats) { s.LostReplies++ })
		return false, nil
	}
	return true, nil
}

// fresh lists a node as it is now, everything included that was written before.
func (l *Locker) fresh(ctx context.Context, dir string) ([]string, error) {
	_, err := call(ctx, l.s, func(*zk.Conn) (struct{}, error) {
		return struct{}{}, l.s.prove(check(l.cfg.Root))
	})
	if err != nil && !answered(err) {
		return nil, err
	}
	return call(ctx, l.s, children(dir))
}

// makeDir makes the node of a lock, or the root, and what is missing above. Below the
// root they are containers, which the servers remove some time after the last child.
func (l *Locker) makeDir(ctx context.Context, dir string) error {
	make1 := func(c *zk.Conn) (string, error) {
		if dir == l.cfg.Root || strings.HasPrefix(l.cfg.Root, dir+"/") {
			return c.Create(dir, nil, zk.FlagPersistent, l.cfg.acl())
		}
		return c.CreateContainer(dir, nil, zk.FlagContainer, l.cfg.acl())
	}
	for {
		_, err := persist(ctx, l.s, make1)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		if parent := path.Dir(dir); errors.Is(err, zk.ErrNoNode) && parent != "/" {
			if err := l.makeDir(ctx, parent); err != nil {
				return err
			}
			continue
		}
		return fmt.Errorf("make node %s: %w", dir, err)
	}
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}
