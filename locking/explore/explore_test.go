package explore_test

import (
	"strings"
	"testing"
	"time"

	"qrunner/locking/explore"
	"qrunner/locking/fsys"
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
		"nested, takeover":  {nestedLockWithTakeover, 2, explore.Bound{Deviations: 2, Faults: 2, Kinds: stall}, "two holders"},
	} {
		t.Run(name, func(t *testing.T) {
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

// TestLockFileBounded runs every schedule of the real lock file with one deviation.
func TestLockFileBounded(t *testing.T) {
	short := []simfs.Fault{
		{Kind: simfs.CrashBefore}, {Kind: simfs.CrashAfter}, {Kind: simfs.LostAnswer},
		{Kind: simfs.Stall, Delay: 3 * time.Second}, {Kind: simfs.StallAnswer, Delay: 3 * time.Second},
		{Kind: simfs.Refuse}, {Kind: simfs.DoneButError},
	}
	for name, w := range map[string]lockWorld{
		"v4.2, first dies":    {procs: []string{"h0", "h1", "h2"}, die: true},
		"v3, first dies":      {version: simfs.V3, procs: []string{"h0", "h1", "h2"}, die: true},
		"v3, first lives":     {version: simfs.V3, procs: []string{"h0", "h1"}},
		"v4.2, two on a host": {procs: []string{"h0", "h1", "h1"}, die: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := explore.Bound{Deviations: 1, Faults: 1, Kinds: short}
			r := explore.Bounded(t, w.scenario(), b)
			t.Logf("%d schedules, %d calls, complete %v", r.Runs, r.Calls, r.Complete)
			if r.Found != nil {
				t.Fatal(r.Found)
			}
		})
	}
}
