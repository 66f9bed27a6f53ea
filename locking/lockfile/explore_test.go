package lockfile

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/simfs"
)

var (
	seeds   = flag.Int("lockfile.seeds", 20, "seeds that TestExplore runs of each kind")
	oneSeed = flag.Uint64("lockfile.seed", 0, "the only seed that TestExplore runs; 0 for all")
)

// referee watches what a lock promises, over all hosts.
type referee struct {
	t     *testing.T
	mu    sync.Mutex
	last  locking.Token
	alive map[locking.Lease]int // leases handed out and neither ended nor crashed
	n     int
}

// granted takes a new lease in and checks that no other stands.
func (r *referee) granted(host int, le locking.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, h := range r.alive {
		if other.Context().Err() == nil {
			r.t.Errorf("host %d has the lock (token %d) while host %d's lease (token %d) stands",
				host, le.Token(), h, other.Token())
		}
	}
	if le.Token() <= r.last {
		r.t.Errorf("token %d after %d", le.Token(), r.last)
	}
	r.last = max(r.last, le.Token())
	r.alive[le] = host
	r.n++
}

func (r *referee) ended(le locking.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.alive, le)
}

// crashed forgets the leases of a host that is no more.
func (r *referee) crashed(host int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for le, h := range r.alive {
		if h == host {
			delete(r.alive, le)
		}
	}
}

// tally is a Fencer all hosts share.
type tally struct {
	mu sync.Mutex
	n  locking.Token
}

func (f *tally) Fence(ctx context.Context) (locking.Token, error) {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	f.n++
	return f.n, nil
}

// client is one goroutine of a host.
type client struct {
	r    *referee
	host int
	l    *simLocker
	rng  *rand.Rand
	f    *tally
}

// run takes and gives back the lock a few times, sometimes by TryLock, sometimes
// for longer than its lifetime, sometimes giving up.
func (c client) run() {
	r, host, l, rng, f, hctx := c.r, c.host, c.l, c.rng, c.f, c.l.Context()
	for grants := 0; grants < 4 && hctx.Err() == nil; {
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		ctx, stop := context.WithTimeout(hctx, time.Duration(1+rng.IntN(60))*time.Minute)
		var le locking.Lease
		var err error
		if rng.IntN(2) == 0 {
			le, err = l.Lock(ctx, listKey, locking.Exclusive, locking.WithFencer(f))
		} else {
			le, err = l.TryLock(ctx, listKey, locking.Exclusive, locking.WithFencer(f))
		}
		stop()
		if err != nil {
			continue // held, timed out, or trouble: all of it passes
		}
		r.granted(host, le)
		grants++
		switch rng.IntN(4) {
		case 0:
			time.Sleep(time.Duration(rng.IntN(200)) * time.Second)
		case 1:
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		}
		_ = le.Verify(hctx)
		r.ended(le)
		_ = le.Unlock(context.WithoutCancel(hctx))
	}
}

// kind is a class of runs.
type kind struct {
	name    string
	cfg     simfs.Config
	faults  []simfs.Fault
	crashes int
	jumps   bool // of the server's clock
}

func kinds() []kind {
	lost := []simfs.Fault{
		{Op: "link", Chance: 0.1, Kind: simfs.LostAnswer},
		{Op: "rename", Chance: 0.2, Kind: simfs.LostAnswer},
		{Op: "remove", Chance: 0.1, Kind: simfs.LostAnswer},
		{Op: "mkdir", Chance: 0.2, Kind: simfs.LostAnswer},
	}
	trouble := []simfs.Fault{
		{Chance: 0.02, Kind: simfs.DoneButError},
		{Chance: 0.02, Kind: simfs.Refuse, Errno: syscall.ESTALE},
		{Chance: 0.02, Kind: simfs.Refuse, Errno: syscall.EIO},
		{Chance: 0.02, Kind: simfs.Stall, Delay: 9 * time.Second},
	}
	both := append(append([]simfs.Fault{}, lost...), trouble...)
	return []kind{
		{name: "v4.2"},
		{name: "v3, lost answers", cfg: simfs.Config{Version: simfs.V3}, faults: lost},
		{name: "v3, trouble", cfg: simfs.Config{Version: simfs.V3, MtimeGrain: time.Second}, faults: both},
		{name: "v4.2, crashes", crashes: 2, faults: trouble},
		{name: "v3, crashes, clock jumps", cfg: simfs.Config{Version: simfs.V3}, crashes: 2, jumps: true, faults: lost},
	}
}

// explore is one run of one seed.
func explore(t *testing.T, k kind, seed uint64) (grants int) {
	cfg := k.cfg
	cfg.Seed, cfg.Latency, cfg.Faults = seed, 2*time.Millisecond, k.faults
	cfg.Scheduler = simfs.Random(seed)
	w := newWorld(t, cfg, nil)
	r := &referee{t: t, alive: map[locking.Lease]int{}}
	f := &tally{}
	rng := rand.New(rand.NewPCG(seed, 7))
	var wg sync.WaitGroup
	start := func(host int) {
		l := w.host(host)
		for range 2 {
			crng := rand.New(rand.NewPCG(rng.Uint64(), 1))
			wg.Go(client{r, host, l, crng, f}.run)
		}
	}
	for host := range 3 {
		start(host)
	}
	for range k.crashes {
		time.Sleep(time.Duration(rng.IntN(120_000)) * time.Millisecond)
		host := rng.IntN(3)
		w.host(host).Crash()
		r.crashed(host)
		delete(w.at, host)
		start(host) // up again, and none the wiser
	}
	if k.jumps {
		for range 4 {
			time.Sleep(time.Duration(rng.IntN(120)) * time.Second)
			w.srv.SetClock(time.Duration(rng.IntN(7200)-3600) * time.Second)
		}
	}
	wg.Wait()
	return r.n
}

// TestExplore runs many small worlds with faults and a random order of all calls, and
// checks that never two leases stand at once and that everybody gets through.
func TestExplore(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			total := 0
			for seed := uint64(1); seed <= uint64(*seeds) && !t.Failed(); seed++ {
				if *oneSeed != 0 {
					seed = *oneSeed
				}
				synctest.Test(t, func(t *testing.T) { total += explore(t, k, seed) })
				if t.Failed() {
					t.Logf("again: go test ./locking/lockfile -run '%s' -lockfile.seed %d", t.Name(), seed)
				}
				if *oneSeed != 0 {
					break
				}
			}
			t.Logf("%d grants", total)
		})
	}
}

// TestReboot: a registered host that comes back knows that its old lock is dead.
func TestReboot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boot := "one"
		w := newWorld(t, simfs.Config{}, func(c *Config) {
			c.Host.Boot, c.Host.Registered = boot, true
		})
		w.lock(0)
		w.host(0).Crash()
		delete(w.at, 0)
		boot = "two"
		start := time.Now()
		w.unlock(w.lock(0))
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("took its own lock back after %v, want ten tries at most", d)
		}
		w.clean()
	})
}
