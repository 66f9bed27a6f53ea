package queuetest

import (
	"sync"
	"time"

	"qrunner/queue"
)

// Phases of a Sink's script that a client's outcome does not have.
const (
	PhaseReset queue.Phase = "rset"
	PhaseQuit  queue.Phase = "quit"
)

// Step is where a dialogue has come to.
type Step struct {
	Conn    int // the connection's number, from 1
	Message int // the transaction's number on the connection, from 1 at the first MAIL
	Phase   queue.Phase
	// Arg is the address of MAIL and RCPT, the name of EHLO, else empty.
	Arg string
}

// Action is what a Sink does at a Step. The zero Action is what it would have done
// without a script. The parts are done in the order of the fields.
type Action struct {
	// Wait first, by package time.
	Wait time.Duration
	// Reply instead of the usual one, without CRLF; several lines are separated by
	// line feeds. Its first digit says whether the step succeeds.
	Reply string
	// Lost keeps the answer back, but does what it says: a message is taken at the
	// phase dot, and nobody is told.
	Lost bool
	// Cut closes the connection when so many more octets have come in.
	Cut int
	// Hang reads on and never answers again; Deaf does not even read. Neither the
	// step nor the answer happens, unless Reply or Lost is set.
	Hang, Deaf bool
	// Close closes the connection, with the same restriction.
	Close bool
}

// silent: there is no answer and nothing happens.
func (a Action) silent() bool {
	return a.Reply == "" && !a.Lost && (a.Hang || a.Deaf || a.Close)
}

// Rule is a line of a script: fields left zero match everything.
type Rule struct {
	Conn, Message int
	Phase         queue.Phase
	Arg           string
	Times         int // how often it holds; 0 for ever
	Action
}

// Rules makes a script: the first rule that matches a step holds.
func Rules(rules ...Rule) func(Step) Action {
	var mu sync.Mutex
	left := make([]int, len(rules))
	for i, r := range rules {
		left[i] = r.Times
	}
	return func(s Step) Action {
		mu.Lock()
		defer mu.Unlock()
		for i, r := range rules {
			switch {
			case r.Conn != 0 && r.Conn != s.Conn, r.Message != 0 && r.Message != s.Message,
				r.Phase != "" && r.Phase != s.Phase, r.Arg != "" && r.Arg != s.Arg,
				r.Times > 0 && left[i] == 0:
				continue
			}
			left[i]--
			return r.Action
		}
		return Action{}
	}
}
