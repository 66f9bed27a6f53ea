package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/locking/site"
	"qrunner/locking/zklock/zktest"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// Config says what a World is made of. The zero value is two hosts, one list with five
// members, NFS v4.2 and a smarthost that takes everything.
type Config struct {
	Seed   uint64
	Hosts  []string
	Lists  []lists.ID
	People int // members per list at the start
	// Server is the share; its Seed and Scheduler are the World's.
	Server simfs.Config
	// ZooKeeper makes the locks those of an ensemble in memory, instead of lock files.
	ZooKeeper bool
	// Gated lets one call on the share through at a time, in an order drawn from Seed.
	Gated bool
	// Sink is the smarthost.
	Sink queuetest.SinkConfig
	// Settings are every list's own, beside those that let any post pass. Own are those
	// of one list.
	Settings map[string]string
	Own      map[lists.ID]map[string]string
	// Readers is how many of a list's first members get digests and no posts.
	Readers int
	// Poll, Slice and Stage are the runner's (Poll also the sender's). Batch is how
	// many recipients a claim covers (10), Copies how many a transaction has (3),
	// Conns how many connections a host may have (4).
	Poll, Slice, Stage   time.Duration
	Batch, Copies, Conns int
	// SnapshotEvery is the store's; by default no record is ever collected, so that
	// the whole log can be audited.
	SnapshotEvery int
	// Stages may replace stages of every host that starts.
	Stages func(host string, table map[queue.Name]queue.Processor)
	// FS and Locker may put something between a host's processes and the share or the
	// locks; for tests of the tests, and of what a mistaken lock does.
	FS     func(host string, f fsys.FS) fsys.FS
	Locker func(host string, l locking.Locker) locking.Locker
	// Level is what the hosts' logs keep (default warnings).
	Level slog.Level
}

func (c Config) withDefaults() Config {
	if c.Hosts == nil {
		c.Hosts = []string{"a", "b"}
	}
	if c.Lists == nil {
		c.Lists = []lists.ID{"ant@lists.example.com"}
	}
	c.People = cmp.Or(c.People, 5)
	c.Batch = cmp.Or(c.Batch, 10)
	c.Copies = cmp.Or(c.Copies, 3)
	c.Conns = cmp.Or(c.Conns, 4)
	c.SnapshotEvery = cmp.Or(c.SnapshotEvery, 1<<30)
	c.Server.Seed = c.Seed
	if c.Gated {
		c.Server.Scheduler = simfs.Random(c.Seed)
	}
	return c
}

// World is the whole system. Make it with New inside a bubble; Close it there.
type World struct {
	c Config
	// Server is the share's, for faults, clocks and power cuts.
	Server *simfs.Server
	// Eye sees the share as it is, and meets no faults.
	Eye *simfs.Host
	// Sink is the smarthost.
	Sink *queuetest.Sink
	// Log is what the hosts said.
	Log *Log

	book *book
	zk   *zktest.Ensemble // nil without
	rng  *rand.Rand       // of the one goroutine that drives the World

	mu       sync.Mutex // guards what follows, never held while waiting
	boots    map[string]int
	pids     map[string]map[int]bool // processes that live, by boot
	last     int                     // process number given out
	hosts    map[string]*Host        // daemons that run
	starting map[string]bool
	dead     []*Host // crashed or stopped, perhaps still winding down
}

// New makes the share, the lists and their members. No host runs yet.
func New(ctx context.Context, c Config) (*World, error) {
	c = c.withDefaults()
	w := &World{
		c: c, Log: newLog(c.Level), rng: rand.New(rand.NewPCG(c.Seed, 7)),
		boots: map[string]int{}, pids: map[string]map[int]bool{}, hosts: map[string]*Host{}, starting: map[string]bool{},
	}
	w.Server = simfs.New(c.Server)
	w.Eye = w.Server.Observer()
	w.book = newBook(w)
	if c.ZooKeeper {
		w.zk = zktest.New(zktest.Config{Servers: 3})
	}
	var err error
	if w.Sink, err = queuetest.NewSink(c.Sink); err != nil {
		return nil, fmt.Errorf("make sink: %w", err)
	}
	if _, err := site.Init(ctx, w.Eye); err != nil {
		return nil, fmt.Errorf("make share: %w", err)
	}
	p, err := w.open(w.Eye, "setup")
	if err != nil {
		return nil, err
	}
	defer p.exit()
	if err := p.store.Create(ctx, lists.Site, admin("init")); err != nil {
		return nil, fmt.Errorf("make site: %w", err)
	}
	for _, id := range c.Lists {
		if err := w.found(ctx, p, id); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// found makes a list with its first members and settings.
func (w *World) found(ctx context.Context, p *process, id lists.ID) error {
	cs := []store.Change{
		store.SetSetting{Name: "default_nonmember_action", Value: "accept"},
		store.SetSetting{Name: "verp_delivery_interval", Value: "0"},
	}
	for name, value := range w.c.Settings {
		cs = append(cs, store.SetSetting{Name: name, Value: value})
	}
	for name, value := range w.c.Own[id] {
		cs = append(cs, store.SetSetting{Name: name, Value: value})
	}
	for i := range w.c.People {
		m := lists.Member{Role: lists.RoleMember, Address: Person(id, i)}
		if i < w.c.Readers {
			m.Mode = []lists.DeliveryMode{lists.ModeMIMEDigests, lists.ModePlainDigests}[i%2]
		}
		cs = append(cs, store.AddMember{Member: m})
	}
	if err := p.store.Create(ctx, id, admin("found"), cs...); err != nil {
		return fmt.Errorf("make list %s: %w", id, err)
	}
	return nil
}

// Person is member i of a list at the start.
func Person(id lists.ID, i int) mailaddr.Address {
	return mailaddr.Address(fmt.Sprintf("m%d.%s@people.example.org", i, id.Local()))
}

func admin(reason string) store.By { return store.By{Actor: "admin", Reason: reason} }

// Start starts qrunner on each of the hosts named (all, if none is), booting those that
// have crashed. On hosts where it runs nothing happens.
func (w *World) Start(names ...string) error {
	if len(names) == 0 {
		names = w.c.Hosts
	}
	for _, n := range names {
		w.mu.Lock()
		up := w.hosts[n]
		busy := w.starting[n] || up != nil && up.sim.Context().Err() == nil
		w.starting[n] = w.starting[n] || !busy
		w.mu.Unlock()
		if busy {
			continue
		}
		w.bury(n) // one that died, and that nobody has missed yet
		h, err := w.start(n)
		w.mu.Lock()
		delete(w.starting, n)
		if err == nil {
			w.hosts[n] = h
		}
		w.mu.Unlock()
		if err != nil {
			return fmt.Errorf("start host %s: %w", n, err)
		}
	}
	return nil
}

// host is the daemon that runs on a host, or nil.
func (w *World) host(name string) *Host {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hosts[name]; h != nil && h.sim.Context().Err() == nil {
		return h
	}
	return nil
}

// FS is a host's view of the share, for pauses, partitions and clocks.
func (w *World) FS(name string) *simfs.Host { return w.Server.Host(name) }

// Crash cuts the power of the hosts named.
func (w *World) Crash(names ...string) {
	for _, n := range names {
		w.Server.Host(n).Crash()
		w.bury(n)
	}
}

// bury takes the daemon of a host that died out of those that run.
func (w *World) bury(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hosts[name]; h != nil {
		delete(w.hosts, name)
		w.dead = append(w.dead, h)
	}
}

// Stop ends the daemons named (all, if none is) in order, and waits for them.
func (w *World) Stop(names ...string) error {
	if len(names) == 0 {
		names = w.c.Hosts
	}
	var errs []error
	for _, n := range names {
		w.mu.Lock()
		h := w.hosts[n]
		w.mu.Unlock()
		if h == nil {
			continue
		}
		w.bury(n)
		errs = append(errs, h.stop())
	}
	return errors.Join(errs...)
}

// Close ends everything, and waits for it.
func (w *World) Close() {
	w.Server.Close()
	for _, n := range w.c.Hosts {
		w.bury(n)
	}
	w.mu.Lock()
	dead := w.dead
	w.mu.Unlock()
	for _, h := range dead {
		_ = h.stop()
	}
	w.Sink.Close()
	if w.zk != nil {
		w.zk.Close()
	}
}
