package simfs

import (
	"path"
	"strings"
	"syscall"
	"time"
)

// Kind is what goes wrong with a call.
type Kind int

// The faults. A call that changes nothing suffers Refuse, DoneButError, Stall,
// StallAnswer and the crashes only.
const (
	// Refuse: not done, answer Errno. With ETIMEDOUT it is a lost request on a
	// soft mount.
	Refuse Kind = iota + 1
	// DoneButError: done, answer Errno: a lost answer on a soft mount.
	DoneButError
	// LostAnswer: done, the answer lost, sent again by the kernel to a server
	// that has forgotten it, and done again: link and mkdir answer EEXIST, remove
	// and rename ENOENT.
	LostAnswer
	// Duplicate: done and answered, and done once more After changing calls later.
	Duplicate
	// Stall: reaches the server after Delay.
	Stall
	// StallAnswer: done, answered after Delay.
	StallAnswer
	// CrashBefore and CrashAfter: the host dies before the call is made, or when
	// it is done.
	CrashBefore
	CrashAfter
)

var kindNames = [...]string{"", "refuse", "done-but-error", "lost-answer", "duplicate",
	"stall", "stall-answer", "crash-before", "crash-after"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// Fault is something that goes wrong with the calls that it matches: those of Host,
// with that Op (see Call), whose name matches the path.Match pattern Name (its last
// element, if the pattern has no slash). An empty field matches everything.
type Fault struct {
	Host, Op, Name string
	// Nth hits the Nth matching call only, 1 being the first; 0 every one.
	Nth int
	// Chance, if not 0, hits a matching call with that probability.
	Chance float64
	// Kind is what happens.
	Kind Kind
	// Errno is the answer of Refuse and DoneButError; 0 means EIO.
	Errno syscall.Errno
	// Delay is for Stall and StallAnswer, After (in changing calls) for Duplicate.
	Delay time.Duration
	After int
}

// armed is a fault in force.
type armed struct {
	Fault
	seen int
}

// Inject puts faults in force; of several that match a call the first one acts.
func (s *Server) Inject(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range list {
		s.faults = append(s.faults, &armed{Fault: f.normal()})
	}
}

// Heal ends all faults that were injected; late duplicates still come.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

func (f Fault) normal() Fault {
	if f.Errno == 0 {
		f.Errno = syscall.EIO
	}
	return f
}

func (f *Fault) matches(c Call) bool {
	if f.Host != "" && f.Host != c.Host || f.Op != "" && f.Op != c.Op {
		return false
	}
	if f.Name == "" {
		return true
	}
	name := c.Name
	if !strings.Contains(f.Name, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(f.Name, name)
	return ok && err == nil
}

// strike returns the fault that hits this call, if any.
func (s *Server) strike(c Call) (hit Fault) {
	for _, a := range s.faults {
		if !a.matches(c) {
			continue
		}
		a.seen++
		if hit.Kind != 0 || a.Nth > 0 && a.seen != a.Nth {
			continue
		}
		if a.Chance > 0 && s.coin.Float64() >= a.Chance {
			continue
		}
		hit = a.Fault
	}
	return hit
}

// ghost is a copy of a call that is still on its way.
type ghost struct {
	due  int
	proc func() error
}

// haunt lets the copies in that are due; nobody gets their answers.
func (s *Server) haunt() {
	for i := 0; i < len(s.ghosts); i++ {
		if g := s.ghosts[i]; s.calls >= g.due {
			s.ghosts = append(s.ghosts[:i:i], s.ghosts[i+1:]...)
			_ = g.proc()
			i--
		}
	}
}
