package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/locking/site"
)

// promises is what commits were answered, by address of the member they added.
type promises struct {
	mu      sync.Mutex
	acked   []mailaddr.Address
	refused []mailaddr.Address
}

func (p *promises) note(a mailaddr.Address, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.acked = append(p.acked, a)
	case !errors.Is(err, ErrUnknown):
		p.refused = append(p.refused, a)
	}
}

// check compares promises with a state.
func (p *promises) check(t *testing.T, s *State) {
	t.Helper()
	r := s.List().Roster
	for _, a := range p.acked {
		if _, ok := r.Find(lists.RoleMember, a); !ok {
			t.Errorf("%s was acknowledged and is not there", a)
		}
	}
	for _, a := range p.refused {
		if _, ok := r.Find(lists.RoleMember, a); ok {
			t.Errorf("%s was refused and is there", a)
		}
	}
}

// chained checks that no record stands under the fence of a later grant: after a
// grant, nobody commits by an earlier one.
func chained(t *testing.T, w *world) {
	t.Helper()
	s := w.host("auditor")
	g, err := s.current(t.Context(), testList)
	if err != nil {
		t.Fatal(err)
	}
	v := mustLook(t, s, g)
	from := v.base()
	if len(v.snapshots) > 1 {
		from = v.snapshots[len(v.snapshots)-2]
	}
	if err := v.gap(from); err != nil {
		t.Error(err)
	}
	var fence uint64
	err = s.scan(t.Context(), g.dir(), from+1, v.chain(from), func(r *Record) error {
		if r.Kind == KindFence {
			fence = r.N
		} else if fence > 0 && uint64(r.Token) != fence {
			t.Errorf("record %d (%s by %s) is of grant %d and stands under fence %d", r.N, r.Kind, r.Host, r.Token, fence)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// zombies lets three hosts work on a list while their locks are taken away behind
// their backs, calls are lost, repeated and stalled, and records are collected.
func zombies(t *testing.T, seed uint64, cfg simfs.Config) {
	synctest.Test(t, func(t *testing.T) {
		cfg.Seed, cfg.Scheduler, cfg.Latency = seed, simfs.Random(seed), time.Millisecond
		server := simfs.New(cfg)
		defer server.Close()
		w := &world{t: t, fs: server.Observer(), view: func(h string) (f fsys.FS) { return server.Host(h) }, locks: newLocks()}
		w.init()
		w.create(w.host("maker"))
		server.Inject(
			simfs.Fault{Chance: 0.02, Kind: simfs.LostAnswer},
			simfs.Fault{Chance: 0.02, Kind: simfs.Duplicate, After: 20},
			simfs.Fault{Chance: 0.01, Kind: simfs.Refuse},
			simfs.Fault{Chance: 0.01, Kind: simfs.DoneButError},
			simfs.Fault{Chance: 0.01, Kind: simfs.StallAnswer, Delay: 3 * time.Second},
			simfs.Fault{Chance: 0.01, Kind: simfs.Stall, Delay: 3 * time.Second},
		)
		var p promises
		var workers, all sync.WaitGroup
		for i := range 3 {
			s := w.hostOn(w.view(fmt.Sprint("h", i)), fmt.Sprint("h", i), 7)
			workers.Go(func() { worker(t, s, &p) })
		}
		stop := make(chan struct{})
		all.Go(func() { thief(w, rand.New(rand.NewPCG(seed, 9)), stop) })
		workers.Wait()
		close(stop)
		all.Wait()
		server.Heal()
		time.Sleep(time.Minute)
		w.locks.Steal(testList)
		chained(t, w)
		p.check(t, w.read(w.host("judge")))
		h := w.lock(w.host("judge"))
		w.commit(h, SetPostID{1})
		w.release(h)
		p.check(t, w.read(w.host("h1")))
		if len(p.acked) == 0 {
			t.Error("nothing was ever committed")
		}
	})
}

// worker makes grants of three commits each.
func worker(t *testing.T, s *Store, p *promises) {
	for i := range 12 {
		h, err := s.Lock(t.Context(), testList, "work")
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		for k := range 3 {
			a := mailaddr.Address(fmt.Sprintf("%s.%d.%d@example.com", s.Host, i, k))
			m := lists.Member{Role: lists.RoleMember, Address: a}
			err := h.Commit(t.Context(), By{Actor: s.Host}, AddMember{m})
			p.note(a, err)
			if err != nil {
				break
			}
		}
		_ = h.Release(t.Context())
	}
}

// thief takes the lock from whoever has it.
func thief(w *world, rng *rand.Rand, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(400)) * time.Millisecond):
			w.locks.Steal(testList)
		}
	}
}

func TestZombieWorld(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		for _, v := range []simfs.Version{simfs.V3, simfs.V42} {
			t.Run(fmt.Sprintf("nfs%d/seed%d", v, seed), func(t *testing.T) { zombies(t, seed, simfs.Config{Version: v}) })
		}
	}
}

// life is a list's life on one host: made, filled, worked on, collected, ended and
// made again.
func life(t *testing.T, s *Store, p *promises) {
	const other = lists.ID("other@example.org")
	_ = s.Create(t.Context(), other, By{})
	for i := range 6 {
		h, err := s.Lock(t.Context(), testList, "work")
		if err != nil {
			continue
		}
		if i == 2 {
			_ = h.Import(t.Context(), By{}, manyMembers(20), nil)
		}
		a := mailaddr.Address(fmt.Sprintf("a%d@example.com", i))
		p.note(a, h.Commit(t.Context(), By{}, AddMember{lists.Member{Role: lists.RoleMember, Address: a}}))
		_ = h.Release(t.Context())
	}
	if s.Delete(t.Context(), other, By{}) == nil {
		_ = s.Create(t.Context(), other, By{})
	}
}

// A host dies before each of its calls in turn, and with cut the power of the server
// goes as well: what was acknowledged is there, nothing is half made.
func crashes(t *testing.T, cfg simfs.Config, cut bool) {
	for n := 1; ; n++ {
		cfg.Seed = uint64(n)
		server := simfs.New(cfg)
		w := &world{t: t, fs: server.Observer(), view: func(h string) fsys.FS { return server.Host(h) }, locks: newLocks()}
		if _, err := site.Init(t.Context(), server.Host("maker")); err != nil {
			t.Fatal(err)
		}
		if err := fsys.MkdirAll(server.Host("maker"), root); err != nil {
			t.Fatal(err)
		}
		w.create(w.host("maker"))
		a := server.Host("a")
		server.Inject(simfs.Fault{Host: "a", Nth: n, Kind: simfs.CrashBefore})
		var p promises
		life(t, w.hostOn(a, "a", 4), &p)
		died := a.Context().Err() != nil
		server.Heal()
		if cut {
			server.Host("maker").Crash()
			server.PowerCut()
		}
		for _, id := range []lists.ID{testList, "other@example.org"} {
			w.locks.Steal(id)
		}
		s := w.host("b")
		p.check(t, w.read(s))
		h := w.lock(s)
		w.commit(h, SetPostID{1})
		w.release(h)
		if err := s.Create(t.Context(), "other@example.org", By{}); err != nil && !errors.Is(err, ErrExists) {
			t.Error(err)
		}
		if _, err := s.Read(t.Context(), "other@example.org"); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("crash before call %d", n)
		}
		if !died {
			return
		}
	}
}

func TestCrashAtEveryCall(t *testing.T) {
	t.Run("nfs4", func(t *testing.T) { crashes(t, simfs.Config{}, false) })
	t.Run("nfs3/power", func(t *testing.T) { crashes(t, simfs.Config{Version: simfs.V3}, true) })
	t.Run("local/power", func(t *testing.T) { crashes(t, simfs.Config{Local: true}, true) })
}
