package intake

import (
	"cmp"
	"time"
)

// Limits bounds what intake takes. Zero values mean the defaults named here.
type Limits struct {
	// Message is the most octets of a message, as stored: 50 MiB. More is refused
	// for good: 552 5.3.4, exit 65.
	Message int64
	// Line is the most octets of a line in a message: 1 MiB. RFC 5322 §2.1.1 allows
	// 998; real mail has lines of several hundred thousand. More is refused for good.
	Line int
	// Recipients is how many recipients an LMTP transaction may have: 1000.
	Recipients int
	// Conns is how many connections there may be at a time, LMTP and SMTP together:
	// 200; ConnsPerClient how many from one IP address: 100. Others get 421.
	Conns, ConnsPerClient int
	// Memory is the most octets of messages in hand, all connections together: 256
	// MiB or twice Message, whichever is more. A message beyond gets 452 4.3.1.
	Memory int64
	// Idle is how long a client may take for a command line: 5 min (RFC 5321
	// §4.5.3.2.7). Block is how long it may be silent inside a message: 3 min. Data
	// is how long a whole message may take: 30 min.
	Idle, Block, Data time.Duration
	// Store is the time that one call of Put or Resolve is given: 5 min, half of
	// what clients wait for an answer to the final dot (RFC 5321 §4.5.3.2.6).
	Store time.Duration
	// Drain is how long messages in hand may take to end at a shutdown: 30 s.
	Drain time.Duration
}

// commandLine is the most octets of a command line. RFC 5321 §4.5.3.1.4 says 512
// and extensions add to it (RFC 6531 §3.4: 10 for MAIL; RFC 4954 more).
const commandLine = 4096

// withDefaults fills in the zero values.
func (l Limits) withDefaults() Limits {
	l.Message = cmp.Or(l.Message, 50<<20)
	l.Line = cmp.Or(l.Line, 1<<20)
	l.Recipients = cmp.Or(l.Recipients, 1000)
	l.Conns = cmp.Or(l.Conns, 200)
	l.ConnsPerClient = cmp.Or(l.ConnsPerClient, 100)
	l.Memory = cmp.Or(l.Memory, max(256<<20, 2*l.Message))
	l.Idle = cmp.Or(l.Idle, 5*time.Minute)
	l.Block = cmp.Or(l.Block, 3*time.Minute)
	l.Data = cmp.Or(l.Data, 30*time.Minute)
	l.Store = cmp.Or(l.Store, 5*time.Minute)
	l.Drain = cmp.Or(l.Drain, 30*time.Second)
	return l
}
