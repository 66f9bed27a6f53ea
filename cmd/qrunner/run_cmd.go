package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"qrunner/lists"
	"qrunner/locking/lockfile"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/intake"
	"qrunner/queue/runner"
	"qrunner/queue/smtpout"
	"qrunner/queue/stage"
)

type runCmd struct{}

// Run is the daemon: it works until SIGTERM or SIGINT, lets work in hand end, and
// returns nil then.
func (c *runCmd) Run(ctx context.Context, a *app) error {
	h, err := a.openAs(ctx, server)
	if err != nil {
		return err
	}
	warnRoot(h.conf, h.log)
	d, err := newDaemon(h)
	if err != nil {
		return err
	}
	return d.run(ctx)
}

// daemon is everything that runs.
type daemon struct {
	*house
	pool      *smtpout.Pool
	sender    *fanout.Sender
	runner    *runner.Runner
	intake    *intake.Intake
	listening func(kind, addr string) // for the demo; nil for nobody
}

func newDaemon(h *house) (*daemon, error) {
	d := &daemon{house: h}
	var err error
	if d.pool, err = h.newPool(); err != nil {
		return nil, err
	}
	d.sender = fanout.New(fanout.Config{
		FS: h.fs, Locker: h.locker, Transport: d.pool, Roster: d.roster, Copies: h.copies().Open, Put: h.spool.Put, Trace: h.trace.Add, Text: h.text,
		Published: func(_ queue.Name, id lists.ID) { d.runner.Wake(id) }, Host: h.host.Host, Clock: time.Now, Log: h.log,
		Policy: h.policy(), BatchSize: h.conf.Smarthost.Batch, Conns: h.conf.Smarthost.Connections,
		Poll: h.conf.Run.Poll, Slice: h.conf.Run.Slice, Drain: h.conf.Run.Drain, Lifetime: h.conf.Lock.DeliveryLifetime,
	})
	d.runner = runner.New(runner.Config{
		Store: h.store, Spool: h.spool, Stages: stage.Table(h.stages()),
		Trace: h.trace.Add, Published: d.published, Host: h.host.Host, Clock: time.Now, Slice: h.conf.Run.Slice,
		Poll: h.conf.Run.Poll, Drain: h.conf.Run.Drain, Workers: h.conf.Run.Workers, Log: h.log,
	})
	d.intake = intake.New(intake.Config{
		Spool: h.spool, Directory: h.store, Wake: func(_ queue.Name, id lists.ID) { d.runner.Wake(id) },
		Trace: h.trace.Add, Host: h.host.Host, Domain: h.conf.Domain, Limits: h.intakeLimits(), Log: h.log,
	})
	return d, nil
}

// published wakes the sender when a post has become a fan-out.
func (d *daemon) published(q queue.Name) {
	if q == queue.Out {
		d.sender.Wake()
	}
}

// run works until ctx ends or a part fails for good.
func (d *daemon) run(ctx context.Context) error {
	// The trace outlives the others: it takes what they say last.
	tctx, stopTrace := context.WithCancel(context.WithoutCancel(ctx))
	traced := make(chan error, 1)
	go func() { traced <- d.trace.Run(tctx) }()

	g, gctx := errgroup.WithContext(ctx)
	if err := errors.Join(d.listen(gctx, g), d.serveStatus(gctx, g), d.serveWeb(gctx, g)); err != nil {
		stopTrace()
		return errors.Join(err, <-traced)
	}
	g.Go(func() error { return d.runner.Run(gctx) })
	g.Go(func() error { return d.sender.Run(gctx) })
	g.Go(func() error { return d.sweep(gctx) })
	g.Go(func() error { return d.tasks(gctx) })
	g.Go(func() error { return d.keepAddresses(gctx) })
	g.Go(func() error {
		select {
		case <-d.reg.Context().Done():
			return context.Cause(d.reg.Context())
		case <-gctx.Done():
			return nil
		}
	})
	d.log.Info("running", "share", d.conf.Var, "smarthost", d.conf.Smarthost.Address)
	err := g.Wait()
	d.pool.Close()
	stopTrace()
	if terr := <-traced; err == nil {
		err = terr
	}
	d.log.Info("stopped", "locks", d.lockStats(), "err", err)
	return err
}

// sweepEvery is how often left-over files in tmp/, left-over locks of deliveries and old
// traces are looked for.
const sweepEvery = time.Hour

func (d *daemon) sweep(ctx context.Context) error {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		err := errors.Join(d.spool.SweepTmp(ctx), d.sweepLocks(ctx), d.trace.Prune(ctx, time.Now().Add(-d.conf.Run.Traces)))
		if err != nil && ctx.Err() == nil {
			d.log.Warn("sweep", "err", err)
		}
		if n := d.trace.Dropped(); n > 0 {
			d.log.Warn("trace events were lost since the start", "events", n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// sweepLocks removes what crashes left of deliveries' lock files; nodes of ZooKeeper
// go by themselves.
func (d *daemon) sweepLocks(ctx context.Context) error {
	if l, ok := d.locker.opened().(*lockfile.Locker); ok {
		return l.SweepFolders(ctx, "out")
	}
	return nil
}
