package world

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/simfs"
	"qrunner/locking/zklock"
	"qrunner/queue/spool"
)

// process is one qrunner on a host, the daemon or a short command, with everything
// that it has of the share.
type process struct {
	w      *World
	sim    *simfs.Host
	fs     fsys.FS
	id     hosts.Identity
	log    *slog.Logger
	files  *lockfile.Locker
	locker locking.Locker
	store  *store.Store
	spool  *spool.Spool
	end    func() // of the locker; nil for none
}

// open starts a process. name is what it is called on the share.
func (w *World) open(h *simfs.Host, name string) (*process, error) {
	p := &process{w: w, sim: h}
	var share fsys.FS = h
	if w.c.FS != nil {
		share = w.c.FS(name, share)
	}
	p.fs = watch(share, name, w.book)
	p.log = slog.New(&handler{Log: w.Log, host: h, name: name})
	p.id = w.fork(h, name)
	seed := rand.New(rand.NewPCG(w.c.Seed, uint64(p.id.PID)))
	var err error
	p.files, err = lockfile.New(lockfile.Config{
		FS: p.fs, Host: p.id, Proc: func(pid int) (uint64, error) { return w.lives(p.id.Boot, pid) },
		Lifetime: 90 * time.Second, Mono: h.Mono(), Rand: rand.New(rand.NewPCG(seed.Uint64(), 1)), Log: p.log,
	})
	if err != nil {
		return nil, fmt.Errorf("make locker: %w", err)
	}
	if p.locker, err = w.locker(p); err != nil {
		return nil, err
	}
	if w.c.Locker != nil {
		p.locker = w.c.Locker(name, p.locker)
	}
	p.spool = spool.New(spool.Config{FS: p.fs, Host: name, Clock: h.Clock(), Log: p.log})
	p.store = store.Open(store.Config{
		FS: p.fs, Locker: p.locker, Host: name, Clock: h.Clock(), Log: p.log, SnapshotEvery: w.c.SnapshotEvery,
	})
	return p, nil
}

// locker is what the process locks with.
func (w *World) locker(p *process) (locking.Locker, error) {
	if w.zk == nil {
		return p.files, nil
	}
	link := w.zk.Link()
	l, err := zklock.Open(p.sim.Context(), zklock.Config{
		Servers: w.zk.Addrs(), Host: p.id, Mono: p.sim.Mono(), Log: p.log,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if err := p.sim.Context().Err(); err != nil {
				return nil, err
			}
			return link.Dial(ctx, network, addr)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the lock service: %w", err)
	}
	var ended atomic.Bool // not a sync.Once: who waits for one stops the bubble's time
	done := make(chan struct{})
	p.end = func() {
		if ended.CompareAndSwap(false, true) {
			_ = l.Close()
			close(done)
		}
		<-done
	}
	context.AfterFunc(p.sim.Context(), func() { // a dead host has no processes
		link.Drop()
		p.end()
	})
	return l, nil
}

// fork gives a process its number.
func (w *World) fork(h *simfs.Host, name string) hosts.Identity {
	w.mu.Lock()
	defer w.mu.Unlock()
	boot := fmt.Sprintf("%s-%p", name, h)
	if w.pids[boot] == nil {
		w.boots[name]++
		w.pids[boot] = map[int]bool{}
	}
	w.last++
	pid := 1000 + w.last
	w.pids[boot][pid] = true
	return hosts.Identity{
		Host: name, Boot: boot, PID: pid, PIDNS: "1", StartTicks: uint64(pid),
		Nonce: fmt.Sprintf("%016x", pid), Registered: true,
	}
}

// exit ends a process's life.
func (p *process) exit() {
	if p.end != nil {
		p.end()
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	delete(p.w.pids[p.id.Boot], p.id.PID)
}

// lives is the hosts.Proc of a boot.
func (w *World) lives(boot string, pid int) (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pids[boot][pid] {
		return uint64(pid), nil
	}
	return 0, hosts.ErrNoProcess
}
