package explore_test

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"qrunner/locking/explore"
	"qrunner/locking/fsys"
	"qrunner/locking/lockfile"
	"qrunner/locking/simfs"
)

// A checker that cannot fail proves nothing: it finds every classic mistake, and
// the schedule that it prints shows it again.
func TestClassicMistakesAreFound(t *testing.T) {
	stall := []simfs.Fault{{Kind: simfs.Stall, Delay: 5 * modelBase / 2}}
	crash := []simfs.Fault{{Kind: simfs.CrashBefore}}
	for name, c := range map[string]struct {
		breaks  func(*model, fsys.Info) error
		waiters int
		bound   explore.Bound
		want    string
	}{
		"unlink by name":    {unlinkByName, 2, explore.Bound{Deviations: 2}, "two holders"},
		"touch then unlink": {touchThenUnlink, 2, explore.Bound{Deviations: 2}, "two holders"},
		"rename aside":      {renameAside, 3, explore.Bound{Deviations: 3}, "two holders"},
		"nested lock":       {nestedLock, 2, explore.Bound{Deviations: 1, Faults: 1, Kinds: crash}, "wedged"},
		"nested, takeover":  {nestedLockWithTakeover, 2, explore.Bound{Deviations: 2, Faults: 2, Kinds: stall, From: 60}, "two holders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := explore.Scenario{Play: modelScenario(c.waiters, strings.Contains(name, "takeover"), c.breaks)}
			c.bound.Runs = 200_000
			r := explore.Bounded(t, s, c.bound)
			if r.Found == nil {
				t.Fatalf("nothing found in %d runs (complete: %v)", r.Runs, r.Complete)
			}
			if !strings.Contains(r.Found.Err.Error(), c.want) {
				t.Fatalf("found %v, want %s", r.Found, c.want)
			}
			t.Logf("%v: run %d, %d calls, plan %s", r.Found.Err, r.Runs, r.Calls, r.Found.Plan)
			again := explore.Replay(t, s, r.Found.Plan, c.bound)
			if again == nil || again.Trace != r.Found.Trace {
				t.Fatalf("the replay differs: %v", again)
			}
		})
	}
}

// The faults of random schedules: short ones, which no lock may mind, and such as
// outlast a lease or come late.
var (
	short = []simfs.Fault{
		{Kind: simfs.CrashBefore}, {Kind: simfs.CrashAfter}, {Kind: simfs.LostAnswer},
		{Kind: simfs.Stall, Delay: worldBase}, {Kind: simfs.StallAnswer, Delay: 3 * time.Second},
		{Kind: simfs.Refuse}, {Kind: simfs.DoneButError},
	}
	long = []simfs.Fault{
		{Kind: simfs.Stall, Delay: 2 * worldLife}, {Kind: simfs.StallAnswer, Delay: 2 * worldLife},
		{Kind: simfs.Duplicate, After: 3}, {Kind: simfs.Duplicate, After: 30},
		{Kind: simfs.Stall, Delay: worldBase}, {Kind: simfs.CrashBefore},
	}
)

// firstHeld is the number of the call at which the first process of a lockWorld has its
// lock.
const firstHeld = 24

// TestLockFileBounded runs every schedule of the real lock file with one deviation.
// With EXPLORE_DEVIATIONS=2 it runs those with two, of fewer kinds (minutes).
func TestLockFileBounded(t *testing.T) {
	depth := env(t, "EXPLORE_DEVIATIONS", 1)
	kinds, crew := short, []string{"h0", "h0", "h1"}
	if depth > 1 {
		crew = []string{"h0", "h0", "h0", "h1"}
		kinds = []simfs.Fault{{Kind: simfs.CrashBefore}, {Kind: simfs.Stall, Delay: worldBase}}
	}
	for name, w := range map[string]lockWorld{
		"v4.2, first dies": {procs: []string{"h0", "h1", "h2"}, die: true},
		"v3, first dies":   {version: simfs.V3, procs: []string{"h0", "h1", "h2"}, die: true},
		"v3, first lives": {version: simfs.V3, procs: []string{"h0", "h1"}, mod: func(c *lockfile.Config) {
			c.ExamineEvery = 3 // so that there are tries that do not look
		}},
		"v3, goroutines":      {version: simfs.V3, procs: crew, crew: true},
		"v4.2, two on a host": {procs: []string{"h0", "h1", "h1"}, die: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := explore.Bound{Deviations: depth, Faults: depth, Kinds: kinds}
			if depth == 1 && name != "v3, first dies" { // which has all the ways into it
				b.From = firstHeld
			}
			if !replay(t, w, b) {
				verdict(t, explore.Bounded(t, w.scenario(), b))
			}
		})
	}
}

// TestLockFileRandom throws schedules with up to six deviations, three of them faults.
// EXPLORE_SEED and EXPLORE_RUNS choose others and more.
func TestLockFileRandom(t *testing.T) {
	three := []string{"h0", "h1", "h2"}
	for name, c := range map[string]struct {
		world lockWorld
		kinds []simfs.Fault
	}{
		"v4.2":         {lockWorld{procs: three, die: true, view: true}, short},
		"v3":           {lockWorld{version: simfs.V3, procs: three, die: true}, short},
		"two a host":   {lockWorld{version: simfs.V3, procs: []string{"h0", "h0", "h1", "h1"}}, short},
		"crews":        {lockWorld{procs: []string{"h0", "h0", "h1", "h1", "h0"}, crew: true}, short},
		"crew zombies": {lockWorld{version: simfs.V3, procs: []string{"h0", "h0", "h0", "h1"}, crew: true, zombies: true}, long},
		"v4.2 zombies": {lockWorld{procs: three, die: true, zombies: true}, long},
		"v3 zombies":   {lockWorld{version: simfs.V3, procs: three, zombies: true}, long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := explore.Bound{Deviations: 6, Faults: 3, Kinds: c.kinds, Runs: env(t, "EXPLORE_RUNS", 100)}
			if !replay(t, c.world, b) {
				seed := uint64(env(t, "EXPLORE_SEED", 1))
				verdict(t, explore.Random(t, c.world.scenario(), b, seed, 250))
			}
		})
	}
}

// TestOldFindings replays schedules that once broke the lock file.
func TestOldFindings(t *testing.T) {
	three := []string{"h0", "h1", "h2"}
	for _, c := range []struct {
		plan  string
		world lockWorld
		kinds []simfs.Fault
	}{
		// A sweep that stalled between the last look and the grant.
		{"24:6 130:2 138:2", lockWorld{procs: three, die: true, zombies: true}, long},
		// So did the removal of what a broken lock left.
		{"124:3 134:2 147:2", lockWorld{procs: three, die: true, zombies: true}, long},
	} {
		p, err := explore.ParsePlan(c.plan)
		if err != nil {
			t.Fatal(err)
		}
		b := explore.Bound{Deviations: len(p), Faults: len(p), Kinds: c.kinds}
		if f := explore.Replay(t, c.world.scenario(), p, b); f != nil {
			t.Error(f)
		}
	}
}

// TestLongStallsOverlap: the monitor sees real holders overlap when calls stall for
// longer than a lease, which no lock with an expiry can prevent; under the same
// schedule the log stays in order.
func TestLongStallsOverlap(t *testing.T) {
	w := lockWorld{procs: []string{"h0", "h1", "h2"}, die: true}
	b := explore.Bound{
		Deviations: 3, Faults: 3, Runs: 5000,
		Kinds: []simfs.Fault{{Op: "rename", Kind: simfs.Stall, Delay: 2 * worldLife}},
	}
	r := explore.Bounded(t, w.scenario(), b)
	if r.Found == nil {
		t.Fatalf("no overlap in %d schedules", r.Runs)
	}
	t.Logf("run %d, plan %s: %v", r.Runs, r.Found.Plan, r.Found.Err)
	w.zombies = true
	if f := explore.Replay(t, w.scenario(), r.Found.Plan, b); f != nil {
		t.Fatal(f)
	}
}

// verdict fails the test for a finding, with the command that shows it again.
func verdict(t *testing.T, r explore.Report) {
	t.Helper()
	t.Logf("%d schedules, %d calls", r.Runs, r.Calls)
	if r.Found != nil {
		t.Fatalf("EXPLORE_PLAN='%s' go test -run '%s' ./locking/explore\n%v", r.Found.Plan, t.Name(), r.Found)
	}
}

// replay runs the schedule in EXPLORE_PLAN alone, if there is one.
func replay(t *testing.T, w lockWorld, b explore.Bound) bool {
	t.Helper()
	text, ok := os.LookupEnv("EXPLORE_PLAN")
	if !ok {
		return false
	}
	p, err := explore.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if f := explore.Replay(t, w.scenario(), p, b); f != nil {
		t.Fatal(f)
	}
	t.Logf("the schedule %s breaks nothing", p)
	return true
}

func env(t *testing.T, name string, def int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(def)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
