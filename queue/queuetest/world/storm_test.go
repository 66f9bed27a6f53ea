package world_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/simfs"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// seeds are those that the environment names in WORLD_SEEDS ("17", or "0-199", or "40"
// seeds as "0-39"), or else the first n.
func seeds(t *testing.T, n uint64) (out []uint64) {
	lo, hi, ranged := strings.Cut(os.Getenv("WORLD_SEEDS"), "-")
	if lo != "" {
		from, err := strconv.ParseUint(lo, 10, 64)
		must(t, err)
		to := from
		if ranged {
			to, err = strconv.ParseUint(hi, 10, 64)
			must(t, err)
		}
		for s := from; s <= to; s++ {
			out = append(out, s)
		}
		return out
	}
	for s := range n {
		out = append(out, s)
	}
	return out
}

// stormOf draws a World and a Storm from a seed.
func stormOf(seed uint64) (Config, Storm) {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := Config{
		Seed: seed, Hosts: []string{"a", "b", "c", "d"}[:2+rng.IntN(3)], Lists: []lists.ID{ant, bee, cow},
		Own: map[lists.ID]map[string]string{cow: {"default_nonmember_action": "hold"}}, Settings: map[string]string{"digest_size_threshold": "1"},
		People: 4 + rng.IntN(12), Readers: rng.IntN(4), ZooKeeper: rng.IntN(4) == 0, Gated: seed%2 == 0, Poll: 2 * time.Second,
		Server: simfs.Config{NoReplyCache: rng.IntN(3) == 0, LookupCacheNone: rng.IntN(3) == 0, AsyncExport: rng.IntN(3) == 0},
	}
	if rng.IntN(2) == 0 {
		c.Server.Version = simfs.V3
	}
	c.Sink = queuetest.SinkConfig{Script: Moody(seed, []int{0, 5, 20, 60}[rng.IntN(4)], 4*time.Minute)}
	few := func(n int) int { return rng.IntN(n + 1) }
	return c, Storm{
		Posts: 6 + few(10), Moves: few(8), Accepts: few(4), Crashes: few(3), CallCrashes: few(3), Pauses: few(2), Cuts: few(2),
		Mutes: few(2), Clocks: few(2), Restarts: few(2), Faults: few(3),
		PowerCuts: few(2) / 2, Blackouts: few(2) / 2,
	}
}

// storm runs the whole system in all weathers of a seed.
func storm(t *testing.T, seed uint64) {
	defer func() {
		if t.Failed() {
			t.Logf("again: WORLD_SEEDS=%d go test ./queue/queuetest/world -run 'TestStorm$' -count=1", seed)
		}
	}()
	c, s := stormOf(seed)
	inWorld(t, c, func(t *testing.T, w *World) {
		must(t, w.Start())
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		w.Storm(ctx, s)
		if !w.Drain(ctx, 2*time.Hour) {
			return
		}
		w.Empty(ctx, c.Hosts[0])
		if !w.Drain(ctx, 2*time.Hour) {
			return
		}
		w.Settle(ctx)
		must(t, w.Stop())
		w.Leavings(t.Context())
		came, said := w.Repeats()
		t.Logf("seed %d: %d calls, %d copies, %d repeats (%d announced), %v of the bubble's time", seed,
			w.Server.Calls(), w.Sink.Stats().Recipients, came, said, w.Age().Round(time.Second))
	})
}

// TestStorm runs fixed seeds. WORLD_SEEDS=0-199 runs more.
func TestStorm(t *testing.T) {
	for _, seed := range seeds(t, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { storm(t, seed) })
	}
}

// TestFreshStorms runs seeds that nobody has tried, for as long as WORLD_FRESH says.
func TestFreshStorms(t *testing.T) {
	if os.Getenv("WORLD_FRESH") == "" {
		t.Skip("WORLD_FRESH=60s runs fresh seeds for a minute")
	}
	d, err := time.ParseDuration(os.Getenv("WORLD_FRESH"))
	must(t, err)
	start, n := time.Now(), 0
	for time.Since(start) < d && !t.Failed() {
		seed := rand.Uint64N(1 << 40)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { storm(t, seed) })
		n++
	}
	t.Logf("%d fresh seeds", n)
}
