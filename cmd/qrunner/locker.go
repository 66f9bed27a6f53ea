package main

import (
	"context"
	"fmt"
	"os"

	"qrunner/locking"
	"qrunner/locking/lockfile"
	"qrunner/locking/zklock"
)

// newLocker makes the lock that the configuration names.
func (h *house) newLocker(ctx context.Context) (locking.Operator, error) {
	if h.conf.Lock.Backend == "zookeeper" {
		return h.zooKeeper(ctx)
	}
	return h.lockFile()
}

func (h *house) lockFile() (locking.Operator, error) {
	c := lockfile.Config{
		FS: h.fs, Host: h.host, Lifetime: h.conf.Lock.Lifetime, Slop: h.conf.Lock.Slop, Log: h.log,
	}
	// The local gate only saves traffic: where its folder cannot be had, go without.
	if dir := h.conf.Lock.LocalDir; dir != "" {
		if err := os.MkdirAll(dir, 0o770); err == nil {
			c.LocalDir = dir
		} else {
			h.log.Debug("no local gate in front of the locks", "err", err)
		}
	}
	return lockfile.New(c)
}

func (h *house) zooKeeper(ctx context.Context) (locking.Operator, error) {
	c, err := zooKeeperConfig(h.conf.Lock)
	if err != nil {
		return nil, err
	}
	c.Host, c.Log = h.host, h.log
	zk, err := zklock.Open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("lock service: %w", err)
	}
	return zk, nil
}
