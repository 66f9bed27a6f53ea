package explore

import (
	"fmt"
	"strconv"
	"strings"

	"qrunner/locking/simfs"
)

// Bound says which deviations there are and how many one schedule may have.
type Bound struct {
	// Deviations is the most that one schedule may have, of which at most Faults
	// may be faults.
	Deviations, Faults int
	// Kinds are the faults. Those that need a changing call are tried on such only.
	Kinds []simfs.Fault
	// From is the number of the first call that may deviate: what comes before is
	// the way into the situation that is of interest.
	From int
	// Runs ends the search after that many schedules; 0 for no end.
	Runs int
}

// Deviation is a departure from the default schedule at the call number Step: its
// Alt-th alternative, counted from 1.
type Deviation struct{ Step, Alt int }

// Plan is a schedule: its deviations in the order of their steps.
type Plan []Deviation

// String writes a plan as "step:alternative", with spaces between.
func (p Plan) String() string {
	words := make([]string, len(p))
	for i, d := range p {
		words[i] = fmt.Sprintf("%d:%d", d.Step, d.Alt)
	}
	return strings.Join(words, " ")
}

// ParsePlan reads what String wrote.
func ParsePlan(s string) (Plan, error) {
	var p Plan
	for w := range strings.FieldsSeq(s) {
		step, alt, _ := strings.Cut(w, ":")
		x, err := strconv.Atoi(step)
		if err != nil {
			return nil, fmt.Errorf("read plan: %w", err)
		}
		y, err := strconv.Atoi(alt)
		if err != nil {
			return nil, fmt.Errorf("read plan: %w", err)
		}
		p = append(p, Deviation{x, y})
	}
	return p, nil
}

// pilot is the Scheduler that follows a plan. It notes for each step what else could
// have been done there.
type pilot struct {
	todo, done Plan
	bound      Bound
	last       string // the host that made the last call
	step       int
	alts       []options
}

// options counts the alternatives at a step: first other hosts, then faults.
type options struct{ hosts, faults uint8 }

func newPilot(p Plan, b Bound) *pilot { return &pilot{todo: p, done: p, bound: b} }

func (p *pilot) plan() Plan { return p.done }

// Next implements simfs.Scheduler.
func (p *pilot) Next(parked []simfs.Call) simfs.Pick {
	first := firsts(parked)
	def := p.settle(parked, first)
	others := make([]int, 0, len(first))
	for _, i := range first {
		if parked[i].Host != parked[def].Host && !parked[def].Local {
			others = append(others, i)
		}
	}
	faults := p.faults(parked[def])
	pick := simfs.Pick{Index: def}
	if len(p.todo) > 0 && p.todo[0].Step == p.step {
		switch alt := p.todo[0].Alt - 1; {
		case alt < len(others):
			pick.Index = others[alt]
		case alt-len(others) < len(faults):
			pick.Fault = faults[alt-len(others)]
		}
		p.todo = p.todo[1:]
	}
	p.last = parked[pick.Index].Host
	p.alts = append(p.alts, options{uint8(len(others)), uint8(len(faults))})
	p.step++
	return pick
}

// firsts returns the index of each host's first parked call.
func firsts(parked []simfs.Call) (list []int) {
	for i := range parked {
		if i == 0 || parked[i].Host != parked[i-1].Host {
			list = append(list, i)
		}
	}
	return list
}

// settle is the default: the last host goes on, or else the next one after it.
func (p *pilot) settle(parked []simfs.Call, first []int) int {
	for _, i := range first {
		if parked[i].Host >= p.last {
			return i
		}
	}
	return first[0]
}

// faults are those that can befall a call.
func (p *pilot) faults(c simfs.Call) (list []simfs.Fault) {
	if c.Local {
		return nil
	}
	for _, f := range p.bound.Kinds {
		needs := f.Kind == simfs.LostAnswer || f.Kind == simfs.Duplicate
		if needs && !named[c.Op] || !matches(f, c) {
			continue
		}
		list = append(list, f)
	}
	return list
}

// named are the calls whose repetition answers differently.
var named = map[string]bool{
	"link": true, "rename": true, "remove": true, "mkdir": true, "dirlink": true, "dirrename": true,
}

func matches(f simfs.Fault, c simfs.Call) bool {
	return (f.Host == "" || f.Host == c.Host) && (f.Op == "" || f.Op == c.Op)
}
