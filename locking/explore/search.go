package explore

import (
	"math/rand/v2"
	"testing"

	"qrunner/locking/simfs"
)

// node is a plan that was run, and where it could have deviated further.
type node struct {
	plan   Plan
	faults int
	alts   []options
}

// Bounded runs every schedule within the bound, those with fewer deviations first,
// until it finds one that breaks.
func Bounded(t *testing.T, s Scenario, b Bound) (r Report) {
	t.Helper()
	root, stop := r.visit(t, s, b, nil, 0)
	level := []node{root}
	for depth := 1; depth <= b.Deviations && !stop; depth++ {
		var next []node
		for _, n := range level {
			if stop = r.branch(t, s, b, n, func(m node) {
				if depth < b.Deviations {
					next = append(next, m)
				}
			}); stop {
				break
			}
		}
		level = next
	}
	r.Complete = !stop
	return r
}

// branch runs the plans that have one deviation more than n, after its last one.
func (r *Report) branch(t *testing.T, s Scenario, b Bound, n node, keep func(node)) (stop bool) {
	t.Helper()
	from := b.From
	if k := len(n.plan); k > 0 {
		from = n.plan[k-1].Step + 1
	}
	for step := from; step < len(n.alts); step++ {
		o := n.alts[step]
		count := int(o.hosts)
		if n.faults < b.Faults {
			count += int(o.faults)
		}
		for alt := 1; alt <= count; alt++ {
			faults := n.faults
			if alt > int(o.hosts) {
				faults++
			}
			plan := append(n.plan[:len(n.plan):len(n.plan)], Deviation{step, alt})
			m, stop := r.visit(t, s, b, plan, faults)
			if stop {
				return true
			}
			keep(m)
		}
	}
	return false
}

func (r *Report) visit(t *testing.T, s Scenario, b Bound, p Plan, faults int) (n node, stop bool) {
	t.Helper()
	pilot := newPilot(p, b)
	calls, found := s.run(t, pilot)
	r.Runs++
	r.Calls += calls
	r.Found = found
	return node{p, faults, pilot.alts}, found != nil || b.Runs > 0 && r.Runs >= b.Runs
}

// Random runs b.Runs schedules, each deviating b.Deviations times, or fewer, at steps
// thrown with the seed among the first steps calls.
func Random(t *testing.T, s Scenario, b Bound, seed uint64, steps int) (r Report) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	for range b.Runs {
		d := &dice{pilot: newPilot(nil, b), rng: rng, chance: float64(b.Deviations) / float64(steps)}
		calls, found := s.run(t, d)
		r.Runs++
		r.Calls += calls
		if r.Found = found; found != nil {
			return r
		}
	}
	return r
}

// dice is a pilot that makes up its plan on the way.
type dice struct {
	*pilot
	rng    *rand.Rand
	chance float64
	faults int
}

// Next implements simfs.Scheduler.
func (d *dice) Next(parked []simfs.Call) simfs.Pick {
	if d.step >= d.bound.From && len(d.done) < d.bound.Deviations && d.rng.Float64() < d.chance {
		o := d.peek(parked)
		n := int(o.hosts)
		if d.faults < d.bound.Faults {
			n += int(o.faults)
		}
		if n > 0 {
			dev := Deviation{d.step, 1 + d.rng.IntN(n)}
			if dev.Alt > int(o.hosts) {
				d.faults++
			}
			d.todo, d.done = Plan{dev}, append(d.done, dev)
		}
	}
	return d.pilot.Next(parked)
}

// peek counts the alternatives of the step to come.
func (p *pilot) peek(parked []simfs.Call) options {
	q := *p
	q.todo, q.alts = nil, nil
	q.Next(parked)
	return q.alts[0]
}
