package lockfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/locktest"
	"qrunner/locking/simfs"
)

const listKey locking.Key = "list@example.org"

// world is a simulated share and the Lockers of some hosts on it.
type world struct {
	*testing.T
	srv  *simfs.Server
	seed uint64
	mod  func(*Config)
	log  *slog.Logger

	mu sync.Mutex
	at map[int]*simLocker
}

// simLocker is a Locker whose host can crash and be cut off.
type simLocker struct {
	*Locker
	*simfs.Host
}

func (s *simLocker) Cut() { s.Partition() }

func newWorld(t *testing.T, cfg simfs.Config, mod func(*Config)) *world {
	w := &world{T: t, srv: simfs.New(cfg), seed: cfg.Seed, mod: mod, at: map[int]*simLocker{}}
	w.log = slog.New(slog.NewTextHandler(t.Output(), nil))
	t.Cleanup(w.srv.Close)
	return w
}

// host returns the Locker of host n, the same one each time.
func (w *world) host(n int) *simLocker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.at[n]; l != nil {
		return l
	}
	name := fmt.Sprintf("h%d", n)
	h := w.srv.Host(name)
	w.at[n] = &simLocker{w.locker(name, 100+n, h, h), h}
	return w.at[n]
}

// locker makes another process on a host, which sees the share through f.
func (w *world) locker(name string, pid int, h *simfs.Host, f fsys.FS) *Locker {
	w.Helper()
	cfg := Config{
		FS:       f,
		Host:     hosts.Identity{Host: name, Boot: "boot-" + name, PID: pid, PIDNS: "1", StartTicks: uint64(pid)},
		Proc:     func(pid int) (uint64, error) { return uint64(pid), nil },
		Lifetime: 90 * time.Second, Mono: h.Mono(), Log: w.log.With("host", name),
		Rand: rand.New(rand.NewPCG(w.seed, uint64(pid))),
	}
	if w.mod != nil {
		w.mod(&cfg)
	}
	l, err := New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// lock gets the key for a host or ends the test.
func (w *world) lock(n int, opts ...locking.Option) *Lease {
	w.Helper()
	le, err := w.host(n).Lock(context.Background(), listKey, locking.Exclusive, opts...)
	if err != nil {
		w.Fatalf("lock by host %d: %v", n, err)
	}
	return le.(*Lease)
}

func (w *world) unlock(le locking.Lease) {
	w.Helper()
	if err := le.Unlock(context.Background()); err != nil {
		w.Fatalf("unlock: %v", err)
	}
}

// files lists a lock's folder as the server has it.
func (w *world) files() []string {
	w.Helper()
	list, err := w.srv.Observer().ReadDir("locks/" + string(listKey))
	if err != nil && !fsys.Gone(err) {
		w.Fatal(err)
	}
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// clean fails the test if anything is left in the lock's folder.
func (w *world) clean() {
	w.Helper()
	if left := w.files(); len(left) != 0 {
		w.Errorf("left in the folder: %q", left)
	}
}

func TestConformance(t *testing.T) {
	for name, cfg := range map[string]simfs.Config{
		"v4.2":  {Latency: time.Millisecond, Scheduler: simfs.Random(1)},
		"v3":    {Version: simfs.V3, Latency: time.Millisecond, Scheduler: simfs.Random(2)},
		"local": {Local: true},
	} {
		t.Run(name, func(t *testing.T) {
			locktest.Run(t, locktest.Setup{
				New: func(t *testing.T) locktest.Open {
					c := cfg
					if c.Scheduler != nil {
						c.Scheduler = simfs.Random(3)
					}
					w := newWorld(t, c, nil)
					return func(n int) locking.Locker { return w.host(n) }
				},
				Bubble: true, Lifetime: 90 * time.Second, Takeover: 5 * time.Minute, Poll: time.Second,
			})
		})
	}
}

func isHeld(err error) bool { return errors.Is(err, locking.ErrHeld) }
