package simfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking/simfs"
)

// brawl lets three hosts fight for a name by link, with faults, and returns the
// trace and the picks.
func brawl(t *testing.T, sched simfs.Scheduler, seed uint64) (trace string, picks []simfs.Pick) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		srv := simfs.New(simfs.Config{
			Seed: seed, Version: simfs.V3, Scheduler: sched, Latency: time.Millisecond, Trace: &out,
			Faults: []simfs.Fault{
				{Chance: 0.05, Kind: simfs.LostAnswer},
				{Chance: 0.05, Kind: simfs.Duplicate, After: 3},
				{Chance: 0.02, Kind: simfs.Refuse},
				{Chance: 0.02, Kind: simfs.StallAnswer, Delay: 5 * time.Second},
			},
		})
		var wg sync.WaitGroup
		for i := range 3 {
			h := srv.Host(fmt.Sprint("h", i))
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			wg.Go(func() { fight(h, rng) })
		}
		time.AfterFunc(20*time.Second, srv.Host("h1").Crash)
		wg.Wait()
		picks = srv.Picks()
		srv.Close()
		trace = out.String()
	})
	return trace, picks
}

func fight(h *simfs.Host, rng *rand.Rand) {
	claim := "claim." + h.Name()
	for range 20 {
		f, err := h.OpenFile(claim, 0x41, 0o660)
		if err == nil {
			_, _ = f.Write([]byte(claim))
			_ = f.Close()
		}
		for try := 0; try < 10 && h.Link(claim, "lock") != nil; try++ {
			time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
			if _, err := h.Stat("lock"); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if rng.IntN(8) == 0 {
				_ = h.Remove("lock")
			}
		}
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		_ = h.Remove("lock")
		_, _ = h.ReadDir(".")
		_ = h.Remove(claim)
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	distinct := map[string]bool{}
	for seed := uint64(1); seed <= 3; seed++ {
		first, picks := brawl(t, simfs.Random(seed), seed)
		distinct[first] = true
		for i := range 19 {
			if again, _ := brawl(t, simfs.Random(seed), seed); again != first {
				t.Fatalf("seed %d, replay %d differs:\n%s", seed, i, firstDifference(first, again))
			}
		}
		if again, _ := brawl(t, simfs.Replay(picks), seed); again != first {
			t.Fatalf("seed %d: the picks do not give the trace:\n%s", seed, firstDifference(first, again))
		}
		t.Logf("seed %d: %d calls, the same 21 times", seed, bytes.Count([]byte(first), []byte("\n")))
	}
	if len(distinct) != 3 {
		t.Error("three seeds, fewer traces")
	}
}

func firstDifference(a, b string) string {
	x, y := bytes.Split([]byte(a), []byte("\n")), bytes.Split([]byte(b), []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d:\n%s\n%s", i, x[i], y[i])
		}
	}
	return "one is longer"
}

func TestGatePausesAndCrashesParkedCalls(t *testing.T) {
	bubble(t, simfs.Config{Scheduler: simfs.Random(1)}, func(r *rig) {
		r.a.Pause()
		start := time.Now()
		time.AfterFunc(time.Minute, r.a.Resume)
		r.must(r.a.Mkdir("d", 0o770))
		r.between(time.Since(start), time.Minute, time.Minute)
		r.b.Pause()
		time.AfterFunc(time.Minute, r.b.Crash)
		if err := r.b.Mkdir("e", 0o770); !errors.Is(err, simfs.ErrCrashed) {
			r.Fatalf("got %v", err)
		}
	})
}

func TestSchedulerPicksFaults(t *testing.T) {
	n := 0
	sched := simfs.SchedulerFunc(func(parked []simfs.Call) (p simfs.Pick) {
		if n++; n == 2 {
			p.Fault.Kind = simfs.CrashAfter
		}
		return p
	})
	bubble(t, simfs.Config{Scheduler: sched}, func(r *rig) {
		r.must(r.a.Mkdir("d", 0o770))
		if err := r.a.Mkdir("e", 0o770); !errors.Is(err, simfs.ErrCrashed) {
			r.Fatalf("got %v", err)
		}
		if got := r.tree("."); got != "d/  e/" {
			r.Fatalf("got %q", got)
		}
	})
}
