package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// Steal takes the lock of key from whoever holds it, alive or not. It is for operators.
// The nodes of the holder and of all who wait are removed in one transaction: the former
// holder is told within moments if it is connected, and until then only the fence
// keeps the two apart; the others queue up again behind us. If any of these nodes went
// meanwhile, nothing is removed and the answer is locking.ErrStealLost. A free lock is
// simply taken. The Report says what was found before.
func (l *Locker) Steal(ctx context.Context, key locking.Key, opts ...locking.Option) (locking.Lease, locking.Report, error) {
	r, all, err := l.inspect(ctx, key)
	if err != nil {
		return nil, r, fmt.Errorf("steal lock %s: %w", key, err)
	}
	le, err := l.acquire(ctx, key, locking.Exclusive, opts, func(a *attempt, ctx context.Context) (*Lease, error) {
		return a.steal(ctx, all)
	})
	if err != nil {
		return nil, r, fmt.Errorf("steal: %w", err)
	}
	return le, r, nil
}

// steal removes the contenders that were seen, and takes the lock if nobody else has come.
func (a *attempt) steal(ctx context.Context, all []seen) (*Lease, error) {
	if err := a.enter(ctx); err != nil {
		return nil, err
	}
	if len(all) > 0 {
		_, err := call(ctx, a.l.s, func(c *zk.Conn) (struct{}, error) {
			var ops []any
			for _, n := range all {
				ops = append(ops, &zk.DeleteRequest{Path: join(a.dir, n.name), Version: n.stat.Version})
			}
			_, err := c.Multi(ops...)
			return struct{}{}, err
		})
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
			return nil, locking.ErrStealLost
		}
		if err != nil {
			return nil, fmt.Errorf("remove nodes: %w", err)
		}
		a.l.counted(func(s *Stats) { s.Steals += int64(len(all)) })
	}
	_, wait, err := a.ahead(ctx)
	if wait || errors.Is(err, errRaced) {
		err = locking.ErrStealLost
	}
	if err != nil {
		return nil, err
	}
	le, err := a.grant(ctx)
	if errors.Is(err, errRaced) {
		err = locking.ErrStealLost
	}
	return le, err
}
