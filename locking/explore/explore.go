// Package explore runs a distributed algorithm on simulated hosts under many
// schedules, and says under which one it breaks. It is for tests.
//
// A Scenario is run again and again in a fresh synctest bubble. Left alone, the
// schedule is: the host that made the last call goes on for as long as it has a call
// to make, then the next host. A deviation departs from it at one call: another
// host goes instead, or the call suffers a fault (a crash, a lost answer, a
// stall). Bounded runs every schedule with at most so many deviations, fewer first,
// so that what it finds is as short as can be; Random throws dice. Both are
// stateless searches: completeness is up to the bound, over the calls that hosts
// make, with timers firing when nobody has a call to make.
package explore

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking/simfs"
)

// Scenario is what is run.
type Scenario struct {
	// Config of the server; Scheduler and Trace are set by the explorer.
	Config simfs.Config
	// Play starts the hosts' processes, waits for their end, and returns the first
	// broken invariant; it must come to an end, whatever the schedule. It runs in a
	// bubble of its own.
	Play func(srv *simfs.Server) error
	// Watch, if not nil, is called before each call is made, with nothing moving:
	// an invariant of the state can be checked there.
	Watch func(srv *simfs.Server, next simfs.Call) error
}

// Finding is a schedule under which an invariant broke.
type Finding struct {
	Err error
	// Plan is the schedule's deviations; Replay runs it again.
	Plan Plan
	// Trace has a line for every call.
	Trace string
}

// String tells how to see it again.
func (f *Finding) String() string {
	return fmt.Sprintf("%v\nreplay: %s\n%s", f.Err, f.Plan, f.Trace)
}

// Report is the outcome of a search.
type Report struct {
	// Runs is how many schedules were run, Calls how many calls they made.
	Runs, Calls int
	// Complete is true if every schedule within the bound was run.
	Complete bool
	// Found is the first finding; nil for none.
	Found *Finding
}

// Replay runs one schedule.
func Replay(t *testing.T, s Scenario, p Plan, b Bound) *Finding {
	t.Helper()
	_, f := s.run(t, newPilot(p, b))
	return f
}

// linger lets goroutines that a crashed host has left in a sleep come to their end.
const linger = time.Hour

// run plays the scenario once and returns the calls made.
func (s Scenario) run(t *testing.T, sched scheduler) (calls int, found *Finding) {
	t.Helper()
	var trace strings.Builder
	var err, broken error
	cfg := s.Config
	cfg.Trace = &trace
	var srv *simfs.Server
	cfg.Scheduler = simfs.SchedulerFunc(func(parked []simfs.Call) simfs.Pick {
		calls++
		p := sched.Next(parked)
		if s.Watch != nil && broken == nil {
			broken = s.Watch(srv, parked[p.Index])
		}
		return p
	})
	synctest.Test(t, func(*testing.T) {
		srv = simfs.New(cfg)
		err = s.Play(srv)
		srv.Close()
		time.Sleep(linger)
	})
	if broken != nil {
		err = broken
	}
	if err != nil {
		found = &Finding{Err: err, Plan: sched.plan(), Trace: trace.String()}
	}
	return calls, found
}

// scheduler is a simfs.Scheduler that can say what it did.
type scheduler interface {
	simfs.Scheduler
	plan() Plan
}
