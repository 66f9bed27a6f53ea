package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// seen is a contender with what its node says.
type seen struct {
	node
	content
}

// Inspect reports who holds key and who waits for it. A node's time is when it joined the
// queue; when it came to hold the lock is not known. Inspect changes nothing.
func (l *Locker) Inspect(ctx context.Context, key locking.Key) (locking.Report, error) {
	r, _, err := l.inspect(ctx, key)
	if err != nil {
		return r, fmt.Errorf("inspect lock %s: %w", key, err)
	}
	return r, nil
}

func (l *Locker) inspect(ctx context.Context, key locking.Key) (locking.Report, []seen, error) {
	r := locking.Report{Key: key, State: locking.StateFree, Why: "nobody holds it", Would: "nothing: there is no lock"}
	dir, err := l.dir(key)
	if err != nil {
		return r, nil, err
	}
	all, err := l.contenders(ctx, dir)
	if err != nil || len(all) == 0 {
		return r, nil, err
	}
	first := all[0]
	r.State, r.Mode, r.Holder = locking.StateHeld, first.mode, holder(first.data, first.stat)
	r.Torn = r.Holder.Host == ""
	r.Why = fmt.Sprintf("held by node %s of session 0x%x, which lives", first.name, first.stat.EphemeralOwner)
	if first.stat.EphemeralOwner == 0 {
		r.Why = fmt.Sprintf("held by node %s, which belongs to no session: it stays until somebody removes it", first.name)
	}
	holding := true
	for _, c := range all[1:] {
		holding = holding && !excludes(first.mode, c.mode)
		if holding {
			r.Sharing = append(r.Sharing, holder(c.data, c.stat))
		} else {
			r.Waiters = append(r.Waiters, holder(c.data, c.stat))
		}
	}
	r.Would = "steal: take it from its holder; who waits queues up again"
	return r, all, nil
}

// contenders lists who holds a lock or waits for it, first come first.
func (l *Locker) contenders(ctx context.Context, dir string) ([]seen, error) {
	_, err := persist(ctx, l.s, func(c *zk.Conn) (string, error) { return c.Sync(l.cfg.Root) })
	if err != nil {
		return nil, err
	}
	names, err := persist(ctx, l.s, children(dir))
	if err != nil {
		return nil, ignore(err, zk.ErrNoNode)
	}
	var out []seen
	for _, n := range contenders(names) {
		c, err := persist(ctx, l.s, get(join(dir, n.name)))
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, seen{n, c})
	}
	return out, nil
}

// List returns the keys that are locked, in the order of their names.
func (l *Locker) List(ctx context.Context) ([]locking.Key, error) {
	keys, err := l.list(ctx, l.cfg.Root, nil)
	if err != nil {
		return nil, fmt.Errorf("list locks: %w", err)
	}
	slices.Sort(keys)
	return keys, nil
}

func (l *Locker) list(ctx context.Context, dir string, keys []locking.Key) ([]locking.Key, error) {
	names, err := persist(ctx, l.s, children(dir))
	if err != nil {
		return keys, ignore(err, zk.ErrNoNode)
	}
	if len(contenders(names)) > 0 && dir != l.cfg.Root {
		keys = append(keys, locking.Key(strings.TrimPrefix(strings.TrimPrefix(dir, l.cfg.Root), "/")))
	}
	for _, name := range names {
		if _, ok := parseNode(name); ok || dir == "/" && name == path.Base(zooKeeper) {
			continue
		}
		if keys, err = l.list(ctx, join(dir, name), keys); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// zooKeeper is the node where ZooKeeper keeps its own things.
const zooKeeper = "/zookeeper"
