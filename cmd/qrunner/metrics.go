package main

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"qrunner/locking/lockfile"
	"qrunner/locking/site"
	"qrunner/locking/zklock"
	"qrunner/queue"
	"qrunner/queue/status"
)

// serveStatus opens the status door, if one is configured.
func (d *daemon) serveStatus(ctx context.Context, g *errgroup.Group) error {
	if d.conf.Status.Listen == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.conf.Status.Listen)
	if err != nil {
		return fmt.Errorf("listen for status: %w", err)
	}
	g.Go(func() error {
		return status.Serve(ctx, l, status.Config{
			Depths: d.depths, Counts: d.counts, Log: d.log,
			Healthy: func(ctx context.Context) error { _, err := site.Check(ctx, d.fs); return err },
		})
	})
	d.log.Info("listening", "protocol", "http", "address", l.Addr().String())
	return nil
}

func (d *daemon) depths(ctx context.Context) ([]status.Depth, error) {
	var out []status.Depth
	for _, q := range queue.Names {
		rows, err := d.queueRows(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out = append(out, status.Depth{Queue: r.Queue, List: r.List, Entries: r.Entries, Oldest: r.Oldest})
		}
	}
	return out, nil
}

func (d *daemon) counts() status.Counts {
	smtp := d.pool.Stats()
	out := status.Counts{
		{Name: "smtp_transactions_total", Help: "Transactions with the smarthost.", N: float64(smtp.Transactions)},
		{Name: "smtp_recipients_total", Help: "Recipients tried.", N: float64(smtp.Recipients)},
		{Name: "smtp_failures_total", Help: "Connections that failed before MAIL.", N: float64(smtp.Failures)},
		{Name: "trace_dropped_total", Help: "Trace events that were lost.", N: float64(d.trace.Dropped())},
	}
	for name, n := range d.trace.Counts() {
		out = append(out, status.Count{Name: "events_total", Help: "What became of messages, by the trace's word for it.", Label: "event", Value: name, N: float64(n)})
	}
	for digit, n := range smtp.Replies {
		if n > 0 {
			out = append(out, status.Count{Name: "smtp_replies_total", Help: "Replies to recipients by first digit; 0: none.", Label: "class", Value: fmt.Sprint(digit), N: float64(n)})
		}
	}
	return append(out, lockCounts(d.lockStats())...)
}

// lockStats is what this process did with locks. What only one back end counts is zero on
// the other.
func (d *daemon) lockStats() lockfile.Stats {
	switch l := d.locker.opened().(type) {
	case *lockfile.Locker:
		return l.Stats()
	case *zklock.Locker:
		s := l.Stats()
		return lockfile.Stats{
			Grants: s.Grants, Releases: s.Releases, Losses: s.Losses, Steals: s.Steals, LostReplies: s.LostReplies, Waited: s.Waited,
		}
	}
	return lockfile.Stats{}
}

func lockCounts(s lockfile.Stats) status.Counts {
	out := status.Counts{
		{Name: "lock_grants_total", Help: "Leases handed out.", N: float64(s.Grants)},
		{Name: "lock_hand_overs_total", Help: "Leases that a process handed from one goroutine to the next.", N: float64(s.HandOvers)},
		{Name: "lock_losses_total", Help: "Leases lost while they were held.", N: float64(s.Losses)},
		{Name: "lock_tries_total", Help: "Attempts to take a lock.", N: float64(s.Tries)},
		{Name: "lock_steals_total", Help: "Locks taken by an operator.", N: float64(s.Steals)},
		{Name: "lock_lost_replies_total", Help: "Calls that answered an error and had been done.", N: float64(s.LostReplies)},
		{Name: "lock_wait_seconds_total", Help: "Time waited for locks.", N: s.Waited.Seconds()},
	}
	for reason, n := range s.Breaks {
		out = append(out, status.Count{Name: "lock_breaks_total", Help: "Locks of others broken, by reason.", Label: "reason", Value: string(reason), N: float64(n)})
	}
	return out
}
