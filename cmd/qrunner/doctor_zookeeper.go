package main

import (
	"context"
	"strings"

	"qrunner/locking/probe"
	"qrunner/locking/zklock"
)

// probeZooKeeper tries the lock service out: each server, the session, rights, latency
// and a lock.
func (h *house) probeZooKeeper(ctx context.Context) []probe.Finding {
	c, err := zooKeeperConfig(h.conf.Lock)
	if err != nil {
		return []probe.Finding{{Check: "zookeeper", Level: probe.Unfit, Text: err.Error(), Remedy: "repair lock: in the configuration"}}
	}
	c.Host, c.Log = h.host, h.log
	var out []probe.Finding
	for _, f := range zklock.Probe(ctx, c) {
		level := map[zklock.Level]probe.Level{
			zklock.LevelOK: probe.OK, zklock.LevelWarn: probe.Warn, zklock.LevelFail: probe.Unfit,
		}[f.Level]
		out = append(out, probe.Finding{Check: "zookeeper " + f.What, Level: level, Text: f.Detail, Remedy: zooKeeperRemedy(f)})
	}
	return out
}

// zooKeeperRemedy says what to do about a finding.
func zooKeeperRemedy(f zklock.Finding) string {
	area, _, _ := strings.Cut(f.What, " ")
	switch {
	case f.Level == zklock.LevelOK:
		return ""
	case f.Is(zklock.ErrBounds):
		return "set lock.session_timeout within the bounds, or minSessionTimeout and maxSessionTimeout at the servers"
	case f.Is(zklock.ErrDenied):
		return "look at lock.auth_file, and at the rights of lock.root (getAcl in zkCli.sh)"
	case f.Is(zklock.ErrNoAnswer):
		return "look at lock.servers, the network, and whether more than half of the servers run"
	case area == "rights":
		return "set lock.auth_file, and give the root to that user (docs/zookeeper.md)"
	case area == "latency":
		return "give the servers' transaction logs a disk of their own, or set a longer lock.session_timeout"
	}
	return ""
}
