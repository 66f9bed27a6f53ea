package explore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"qrunner/locking"
	"qrunner/locking/explore"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/simfs"
)

// lockWorld is the real lock file and a fenced log behind it: the first process
// gets the lock and dies with it, the others want it.
type lockWorld struct {
	version simfs.Version
	// procs names the hosts of the processes; two of one host share its caches.
	procs []string
	// crew: the processes of a host are one, of several goroutines.
	crew bool
	// die: the first process crashes while it holds the lock; else it gives it back.
	die bool
	// zombies: stalls last longer than leases, so two holders are not an error;
	// the log must stand it.
	zombies bool
	// view: a further host looks on all the while, as an operator does.
	view bool
	mod  func(*lockfile.Config)
}

const (
	worldLife = 6 * time.Second
	worldBase = 2 * time.Second
	worldKey  = locking.Key("list@example.org")
	worldDir  = "locks/list@example.org"
)

func (w lockWorld) scenario() explore.Scenario {
	var eye *watcher
	return explore.Scenario{
		Config: simfs.Config{Version: w.version},
		Play: func(srv *simfs.Server) error {
			eye = &watcher{monitor: newMonitor(), srv: srv}
			return w.play(srv, eye.monitor)
		},
		Watch: func(_ *simfs.Server, c simfs.Call) error {
			if w.zombies { // a late duplicate can do anything to names
				return viewerIsHarmless(c)
			}
			return eye.watch(c)
		},
	}
}

func (w lockWorld) play(srv *simfs.Server, mon *monitor) error {
	if err := fsys.MkdirAll(srv.Observer(), "log"); err != nil {
		return err
	}
	var ps []*proc
	for i, host := range w.procs {
		p, err := w.member(srv, mon, ps, i, host)
		if err != nil {
			return err
		}
		ps = append(ps, p)
	}
	var wg sync.WaitGroup
	first := make(chan struct{})
	wg.Go(func() { ps[0].work(w.die, first) })
	select {
	case <-first:
	case <-ps[0].Context().Done():
	}
	for _, p := range ps[1:] {
		wg.Go(func() { p.work(false, nil) })
	}
	if w.view {
		v, err := w.proc(srv, mon, len(ps), viewer)
		if err != nil {
			return err
		}
		wg.Go(v.look)
	}
	if err := wait(&wg, mon, srv, len(ps)); err != nil {
		return err
	}
	if err := checkLog(srv, mon); err != nil {
		return err
	}
	return w.checkLeftovers(srv, ps)
}

// proc is one process on a host.
type proc struct {
	*simfs.Host
	*lockfile.Locker
	id   string // "host.pid", as in names of files
	name string // its own, where several are one process
	mon  *monitor
	zom  bool
}

// member is the process i: one more, or a goroutine of an earlier one.
func (w lockWorld) member(srv *simfs.Server, mon *monitor, ps []*proc, i int, host string) (*proc, error) {
	for _, p := range ps {
		if w.crew && p.Host.Name() == host {
			q := *p
			q.name = fmt.Sprintf("%s+%d", p.id, i)
			return &q, nil
		}
	}
	return w.proc(srv, mon, i, host)
}

func (w lockWorld) proc(srv *simfs.Server, mon *monitor, i int, host string) (*proc, error) {
	h := srv.Host(host)
	cfg := lockfile.Config{
		FS: h, Mono: h.Mono(),
		Host:     hosts.Identity{Host: host, Boot: "boot-" + host, PID: 100 + i, PIDNS: "1", StartTicks: uint64(i + 1)},
		Proc:     func(pid int) (uint64, error) { return uint64(pid - 99), nil },
		Lifetime: worldLife, Slop: time.Second, Base: worldBase, ExamineEvery: 1,
		Rand: rand.New(rand.NewPCG(7, uint64(i))),
	}
	if w.mod != nil {
		w.mod(&cfg)
	}
	l, err := lockfile.New(cfg)
	id := fmt.Sprintf("%s.%d", host, 100+i)
	return &proc{Host: h, Locker: l, id: id, name: id, mon: mon, zom: w.zombies}, err
}

// work takes the lock once, commits twice under it and gives it back.
func (p *proc) work(die bool, held chan<- struct{}) {
	f := &fencer{proc: p}
	var le locking.Lease
	for {
		var err error
		le, err = p.Lock(p.Host.Context(), worldKey, locking.Exclusive, locking.WithFencer(f))
		if err == nil {
			break
		}
		if p.Host.Context().Err() != nil {
			return
		}
		time.Sleep(worldBase)
	}
	alive := func() bool { return le.Context().Err() == nil && p.Host.Context().Err() == nil }
	p.mon.enter(p.name, alive, le.Token(), !p.zom)
	if held != nil {
		close(held)
	}
	if die {
		p.Crash()
	}
	f.commit(le, 1)
	select {
	case <-time.After(worldLife / 2): // past two refreshes
	case <-le.Context().Done():
	case <-p.Host.Context().Done():
	}
	if le.Verify(p.Host.Context()) == nil {
		f.commit(le, 2)
	}
	p.mon.leave(p.name)
	_ = le.Unlock(p.Host.Context())
}

// look asks who holds what, a few times.
func (p *proc) look() {
	for range 4 {
		_, _ = p.List(p.Host.Context())
		_, _ = p.Inspect(p.Host.Context(), worldKey)
		time.Sleep(worldLife)
	}
}

// fencer is the numbered log of DESIGN: record n+1 is published by link.
type fencer struct {
	*proc
	last uint64
	tmp  int
}

// Fence implements locking.Fencer.
func (f *fencer) Fence(ctx context.Context) (locking.Token, error) {
	for {
		d, err := f.OpenDir("log")
		if err != nil {
			return 0, err
		}
		err = d.Touch()
		var list []fsys.DirEntry
		if err == nil {
			list, err = d.ReadDir()
		}
		_ = d.Close()
		if err != nil {
			return 0, err
		}
		n := uint64(0)
		for _, e := range list {
			if i, err := strconv.ParseUint(e.Name, 10, 64); err == nil {
				n = max(n, i)
			}
		}
		err = f.append(n+1, "fence")
		if err == nil {
			f.last = n + 1
			return locking.Token(n + 1), nil
		}
		if !errors.Is(err, fs.ErrExist) || ctx.Err() != nil {
			return 0, err
		}
	}
}

// commit publishes our next record, and tells the monitor if it is done.
func (f *fencer) commit(le locking.Lease, k int) {
	if le.Context().Err() != nil {
		return
	}
	text := fmt.Sprintf("commit %d.%d", le.Token(), k)
	if f.append(f.last+1, text) == nil {
		f.last++
		f.mon.committed(f.last, f.name+" "+text)
	}
}

func (f *fencer) append(n uint64, text string) error {
	f.tmp++
	tmp := fmt.Sprintf("log/tmp.%s.%d", f.name, f.tmp)
	err := fsys.WriteNew(f, tmp, func(w io.Writer) error {
		_, err := io.WriteString(w, f.name+" "+text)
		return err
	})
	if err != nil {
		return err
	}
	err = fsys.LinkNew(f, tmp, fmt.Sprintf("log/%020d", n))
	_ = fsys.RemoveAny(f, tmp)
	return err
}

// checkLog: one chain without gaps (S7), in which what was reported done is, and
// in which a grant's records are not followed by an earlier grant's (S2).
func checkLog(srv *simfs.Server, mon *monitor) error {
	o := srv.Observer()
	list, err := o.ReadDir("log")
	if err != nil {
		return err
	}
	n, highest := uint64(0), 0
	for _, e := range list {
		if strings.HasPrefix(e.Name, "tmp.") || strings.HasPrefix(e.Name, ".nfs") {
			continue
		}
		n++
		if want := fmt.Sprintf("%020d", n); e.Name != want {
			return fmt.Errorf("S7: gap in the log: %s instead of %s", e.Name, want)
		}
		data, err := fsys.ReadFile(o, "log/"+e.Name, 1<<10)
		if err != nil {
			return err
		}
		if want, ok := mon.commits[n]; ok && string(data) != want {
			return fmt.Errorf("S7: record %d is %q, reported %q", n, data, want)
		}
		var id string
		var token, k int
		if c, _ := fmt.Sscanf(string(data), "%s commit %d.%d", &id, &token, &k); c == 3 {
			if token < highest {
				return fmt.Errorf("S2: grant %d committed after grant %d", token, highest)
			}
		} else {
			highest = int(n)
		}
	}
	return nil
}

// checkLeftovers: a fault leaves a file or two of the living for the sweep, and
// the dead leave theirs; no more (V2).
func (w lockWorld) checkLeftovers(srv *simfs.Server, ps []*proc) error {
	list, err := srv.Observer().ReadDir(worldDir)
	if err != nil && !fsys.Gone(err) {
		return err
	}
	living := 0
	for _, e := range list {
		if slices.ContainsFunc(ps, func(p *proc) bool {
			return p.Host.Context().Err() == nil && strings.Contains(e.Name, "."+p.id+".")
		}) {
			living++
		}
	}
	if living > 2 || len(list) > 4*len(ps) {
		return fmt.Errorf("V2: %d files left, %d of them of processes that came to their end: %v", len(list), living, list)
	}
	return nil
}
