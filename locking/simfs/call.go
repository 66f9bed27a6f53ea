package simfs

import (
	"errors"
	"fmt"
	"time"
)

// Call is what the gate shows of a parked call.
type Call struct {
	// Host made it.
	Host string
	// Op as fsys.Hook names them, and "close", "read", "truncate", "chmod".
	Op string
	// Name that the call is about; for link and rename the new name.
	Name string
	// Local is true of calls that only move bytes on the host.
	Local bool
}

// call is a file-system call of a host on its way through the gate.
type call struct {
	Call
	host *Host
	run  func(*call) error // what the client does; under the server's mutex
	err  error
	done chan struct{} // closed by the gate when run was run

	armed   bool // the faults had their say
	fault   Fault
	retry   bool          // run is not through: park and run again
	stall   time.Duration // ... after that time
	late    time.Duration // the answer takes that long
	blocked bool          // ... when the host can reach the server

	sent func() error // a changing procedure whose answer has not come
	boot int          // of the server that did it
}

// errCut: the host cannot reach the server, or not be reached by it.
var errCut = errors.New("no answer")

// do takes a call through the gate and returns its answer.
func (h *Host) do(op, name string, run func(*call) error) error {
	return h.pass(&call{Call: Call{Host: h.name, Op: op, Name: name}, host: h, run: run})
}

func (h *Host) doLocal(op, name string, run func(*call) error) error {
	return h.pass(&call{Call: Call{Host: h.name, Op: op, Name: name, Local: true}, host: h, run: run})
}

func (h *Host) pass(c *call) error {
	s := h.srv
	for {
		wait := s.submit(c)
		if c.done != nil {
			<-c.done
		}
		switch {
		case wait != nil:
			<-wait
		case c.stall > 0:
			h.sleep(c.stall)
			c.stall = 0
		case c.blocked:
			<-s.changes(h)
		case !c.retry:
			h.sleep(c.late)
			return c.err
		}
	}
}

// submit runs the call, or parks it at the gate (then done is set), or returns
// what to wait for before trying again.
func (s *Server) submit(c *call) (wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.done = nil
	switch {
	case c.host.raw || c.host.crashed:
		s.exec(c)
	case s.gate != nil:
		c.done = make(chan struct{})
		s.gate.park(c)
	case c.host.paused:
		return s.changed
	default:
		s.exec(c)
	}
	return nil
}

// changes returns a channel that closes when the host's calls may get further.
func (s *Server) changes(h *Host) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.crashed || h.reachable() {
		ch := make(chan struct{})
		close(ch)
		return ch
	}
	return s.changed
}

// sleep waits without the gate; a crash ends it.
func (h *Host) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-h.ctx.Done():
	}
}

// exec is the call's turn.
func (s *Server) exec(c *call) {
	c.retry, c.blocked = false, false
	if c.host.crashed {
		c.err = ErrCrashed
		return
	}
	if c.sent != nil {
		s.resend(c)
		s.trace(c)
		return
	}
	if !c.host.raw {
		s.haunt()
		if !c.armed {
			c.armed = true
			if c.fault.Kind == 0 {
				c.fault = s.strike(c.Call)
			}
		}
	}
	c.err = s.attempt(c)
	switch {
	case errors.Is(c.err, errCut):
		c.err, c.blocked = nil, true
	case c.sent != nil:
		c.blocked = true
	}
	if c.host.crashed {
		c.err, c.retry, c.blocked = ErrCrashed, false, false
	}
	s.trace(c)
}

// resend is what the kernel does for a call that was done and never answered.
func (s *Server) resend(c *call) {
	if !c.host.reachable() {
		c.blocked = true
		return
	}
	if c.boot != s.boot || s.cfg.NoReplyCache {
		c.err = c.sent()
	}
	c.sent = nil
}

func (s *Server) attempt(c *call) error {
	f := c.fault
	switch f.Kind {
	case Refuse:
		return f.Errno
	case Stall:
		c.fault.Kind = 0
		c.stall, c.retry = f.Delay, true
		return nil
	case CrashBefore:
		s.crash(c.host)
		return ErrCrashed
	}
	err := c.run(c)
	if c.retry || errors.Is(err, errCut) {
		return err
	}
	switch f.Kind {
	case DoneButError:
		return f.Errno
	case StallAnswer:
		c.late = f.Delay
	case CrashAfter:
		s.crash(c.host)
	}
	return err
}

// mutate makes a changing call to the server: once, or as faults will have it. The
// procedure is bound to handles, so that a copy of it that arrives late means the
// same folder and name.
func (c *call) mutate(proc func() error) error {
	s, h := c.host.srv, c.host
	if h.raw {
		return proc()
	}
	if h.cut || s.down {
		return errCut
	}
	s.calls++
	if s.calls == s.cfg.CrashAt {
		s.crash(h)
		return ErrCrashed
	}
	err := proc()
	switch {
	case h.muted:
		c.sent, c.boot = proc, s.boot
	case c.fault.Kind == LostAnswer:
		err = proc()
	case c.fault.Kind == Duplicate:
		s.ghosts = append(s.ghosts, ghost{due: s.calls + c.fault.After, proc: proc})
	}
	return err
}

// ask is before each call to the server that changes nothing.
func (h *Host) ask() error {
	if h.raw || h.reachable() {
		return nil
	}
	return errCut
}

func (s *Server) trace(c *call) {
	if s.cfg.Trace == nil || c.host.raw {
		return
	}
	answer := "ok"
	switch {
	case c.blocked:
		answer = "..."
	case c.stall > 0:
		answer = "stalls"
	case c.err != nil:
		answer = c.err.Error()
	}
	fault := ""
	if c.fault.Kind != 0 {
		fault = " [" + c.fault.Kind.String() + "]"
	}
	fmt.Fprintf(s.cfg.Trace, "%s %s %s %s: %s%s\n", time.Since(s.start), c.Host, c.Op, c.Name, answer, fault)
}
