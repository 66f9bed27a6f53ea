package zklock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

// monitor knows who holds the lock and checks that nobody does who must not.
type monitor struct {
	testing.TB
	mu   sync.Mutex
	held map[*Lease]locking.Mode
	lost int
	n    int
}

// enter is called when a lease was handed out. Readers overlap each other only; whoever
// else still believes to hold the lock must have been told of its loss.
func (m *monitor) enter(le *Lease, mode locking.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	for o, om := range m.held {
		if excludes(mode, om) && o.Context().Err() == nil && le.Context().Err() == nil {
			m.Errorf("%v %s of session %d beside %v %s of session %d", mode, le.name, le.session, om, o.name, o.session)
		}
	}
	m.held[le] = mode
}

func (m *monitor) leave(le *Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held, le)
	if errors.Is(context.Cause(le.Context()), locking.ErrLost) {
		m.lost++
	}
}

// look checks that a lease that stands has its node.
func (m *monitor) look(w *world) {
	m.mu.Lock()
	defer m.mu.Unlock()
	nodes := w.nodes()
	for le := range m.held {
		if le.Context().Err() == nil && le.valid() && !slices.Contains(nodes, le.name) {
			m.Errorf("lease without its node %s; there are %q", le.name, nodes)
		}
	}
}

// client takes and gives locks until end.
func (m *monitor) client(l locking.Locker, r *rand.Rand, end time.Time) {
	for time.Now().Before(end) {
		mode := locking.Mode(r.IntN(2))
		ctx, cancel := context.WithCancel(context.Background())
		if r.IntN(3) == 0 {
			time.AfterFunc(time.Duration(r.IntN(3000))*time.Millisecond, cancel)
		}
		get := l.Lock
		if r.IntN(3) == 0 {
			get = l.TryLock
		}
		got, err := get(ctx, listKey, mode)
		if err == nil {
			le := got.(*Lease)
			m.enter(le, mode)
			select {
			case <-time.After(time.Duration(r.IntN(2000)*(1+9*r.IntN(2))) * time.Millisecond):
			case <-le.Context().Done():
			}
			m.leave(le)
			_ = le.Unlock(ctx)
		}
		cancel()
		time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
	}
}

// faults makes trouble until end: requests and answers lost, links cut and dropped, some
// for longer than a session lives, servers that lag or go away.
func (m *monitor) faults(w *world, r *rand.Rand, end time.Time) {
	var mu sync.Mutex
	w.ens.Hook(func(zktest.Request) zktest.Fate {
		mu.Lock()
		defer mu.Unlock()
		switch r.IntN(60) {
		case 0:
			return zktest.Fate{Lose: true}
		case 1:
			return zktest.Fate{LoseReply: true}
		case 2:
			late := make(chan struct{})
			time.AfterFunc(time.Duration(r.IntN(4000))*time.Millisecond, func() { close(late) })
			return zktest.Fate{Wait: late}
		}
		return zktest.Fate{}
	})
	dice := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
	for time.Now().Before(end) {
		time.Sleep(time.Duration(dice(3000)) * time.Millisecond)
		m.look(w)
		l := w.at[dice(len(w.at))]
		switch s := dice(3); dice(6) {
		case 0:
			l.link.Drop()
		case 1, 2:
			l.link.Cut()
			time.AfterFunc(time.Duration(dice(int(2*timeout))), l.link.Heal)
		case 3:
			w.ens.Lag(s, true)
			time.AfterFunc(time.Duration(dice(int(timeout))), func() { w.ens.Lag(s, false) })
		case 4:
			w.ens.Refuse(s, true)
			time.AfterFunc(time.Duration(dice(int(timeout/2))), func() { w.ens.Refuse(s, false) })
		}
	}
	w.ens.Hook(nil)
}

func TestExplore(t *testing.T) {
	const seeds, hosts, clients = 25, 3, 2
	var grants, lost int
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, zktest.Config{Servers: 3}, func(c *Config) { c.Log = nil })
				m := &monitor{TB: t, held: map[*Lease]locking.Mode{}}
				end := time.Now().Add(3 * time.Minute)
				var wg sync.WaitGroup
				for h := range hosts {
					l := w.host(h)
					for c := range clients {
						wg.Go(func() { m.client(l, rand.New(rand.NewPCG(seed, uint64(h*10+c))), end) })
					}
				}
				m.faults(w, rand.New(rand.NewPCG(seed, 99)), end)
				all := make(chan struct{})
				go func() { wg.Wait(); close(all) }()
				select {
				case <-all:
				case <-time.After(10 * timeout):
					for h := range hosts {
						t.Logf("host %d: session %d, watches %v, %+v", h, w.host(h).s.conn.SessionID(), slices.Collect(maps.Keys(w.host(h).watches.at)), w.host(h).Stats())
					}
					t.Fatalf("somebody waits for ever; sessions %d, nodes %s", w.ens.Sessions(), w.ens.Owners(listDir+"/"))
				}
				time.Sleep(3 * timeout)
				w.clean() // nothing of ours stays, whatever happened
				w.unlock(w.lock(0))
				synctest.Wait()
				if n := w.ens.Watches(); n != 0 {
					t.Errorf("%d watches left", n)
				}
				grants += m.n
				lost += m.lost
			})
		})
	}
	t.Logf("%d grants, %d of them lost while held", grants, lost)
	if grants < 10*seeds || lost < seeds/2 {
		t.Errorf("%d grants, %d lost: too few to mean anything", grants, lost)
	}
}
