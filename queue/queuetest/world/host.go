package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/intake"
	"qrunner/queue/retry"
	"qrunner/queue/runner"
	"qrunner/queue/smtpout"
	"qrunner/queue/stage"
	"qrunner/queue/trace"
)

// Host is a daemon on a host, wired as `qrunner run` wires it, but for the host
// registry and the trace files.
type Host struct {
	*process
	sim    *simfs.Host
	pool   *smtpout.Pool
	runner *runner.Runner
	sender *fanout.Sender
	intake *intake.Intake
	lmtp   *listener

	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

func (w *World) start(name string) (*Host, error) {
	sim := w.Server.Host(name)
	p, err := w.open(sim, name)
	if err != nil {
		return nil, err
	}
	h := &Host{process: p, sim: sim, lmtp: newListener()}
	h.pool, err = smtpout.New(smtpout.Config{
		Host: "smarthost", TLS: smtpout.TLSNone, Dial: h.dial, MaxConns: w.c.Conns, MaxRecipients: w.c.Copies, Log: p.log,
	})
	if err != nil {
		return nil, err
	}
	h.wire()
	ctx, cancel := context.WithCancel(sim.Context())
	h.cancel = cancel
	for what, run := range map[string]func(context.Context) error{
		"runner": h.runner.Run, "sender": h.sender.Run,
		"lmtp": func(ctx context.Context) error { return h.intake.ServeLMTP(ctx, h.lmtp) },
	} {
		h.wg.Go(func() {
			if err := run(ctx); err != nil && sim.Context().Err() == nil {
				h.mu.Lock()
				h.errs = append(h.errs, fmt.Errorf("%s on %s: %w", what, name, err))
				h.mu.Unlock()
			}
		})
	}
	return h, nil
}

// wire makes the parts and ties them together.
func (h *Host) wire() {
	c := h.w.c
	h.sender = fanout.New(fanout.Config{
		FS: h.fs, Locker: h.locker, Transport: &transport{h}, Roster: h.roster, Put: h.spool.Put, Trace: h.trace,
		Published: func(_ queue.Name, id lists.ID) { h.runner.Wake(id) }, Host: h.id.Host, Clock: h.sim.Clock(), Log: h.log,
		Policy: retry.Policy{First: time.Minute, Longest: 4 * time.Minute}, BatchSize: c.Batch, Conns: c.Conns, Poll: c.Poll,
	})
	table := stage.Table(h.stages())
	if c.Stages != nil {
		c.Stages(h.id.Host, table)
	}
	for q, s := range table {
		table[q] = &noting{h.w.book, s}
	}
	h.runner = runner.New(runner.Config{
		Store: h.store, Spool: h.spool, Stages: table, Trace: h.trace, Host: h.id.Host, Clock: h.sim.Clock(),
		Published: func(q queue.Name) {
			if q == queue.Out {
				h.sender.Wake()
			}
		},
		Slice: c.Slice, Poll: c.Poll, Stage: c.Stage, Log: h.log,
	})
	h.intake = intake.New(intake.Config{
		Spool: &door{h}, Directory: h.store, Host: h.id.Host, Log: h.log,
		Wake: func(_ queue.Name, id lists.ID) { h.runner.Wake(id) },
	})
}

func (h *Host) roster(ctx context.Context, id lists.ID) (lists.Roster, error) {
	st, err := h.store.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	return st.List().Roster, nil
}

func (h *Host) trace(_ context.Context, e trace.Event) {
	if h.sim.Context().Err() == nil {
		h.w.book.event(e)
	}
}

// dial connects to the smarthost; the connection dies with the host.
func (h *Host) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := h.sim.Context().Err(); err != nil {
		return nil, err
	}
	conn, err := h.w.Sink.Dial(ctx, network, addr)
	if err == nil {
		context.AfterFunc(h.sim.Context(), func() { conn.Close() })
	}
	return conn, err
}

// stop ends the daemon in order and waits for it.
func (h *Host) stop() error {
	h.cancel()
	h.wg.Wait()
	h.pool.Close()
	h.exit()
	return errors.Join(h.errs...)
}

// listener takes connections that are made in memory.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newListener() *listener { return &listener{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "lmtp", Net: "unix"} }

// connect is the client's side.
func (l *listener) connect(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
