package simfs

import (
	"io"
	"time"
)

// Version is the protocol that the hosts speak with the server.
type Version int

// The versions. On V42 a folder's change counter sees every change, a file that
// a client has open outlives its last name, and an answer lost in transit is
// repeated by the session; V3 has neither.
const (
	V42 Version = iota
	V3
)

// Config says how the server and its clients behave. The zero value is NFS v4.2
// with the Linux defaults, no faults and no gate.
type Config struct {
	// Seed feeds the fault chances and the coins of PowerCut.
	Seed uint64
	// Version of the protocol.
	Version Version
	// Local makes it a local file system: no client caches, no silly-rename, and
	// directory changes that need Dir.Sync (as AsyncExport).
	Local bool
	// AsyncExport lets a power cut undo directory changes that no Dir.Sync
	// followed. Without it the server makes them durable at once.
	AsyncExport bool
	// MtimeGrain is the step of the server's timestamps; 0 means 10 ms.
	MtimeGrain time.Duration
	// AttrMin and AttrMax bound the age of cached attributes of files, DirMin and
	// DirMax of folders; 0 means 3 s, 60 s, 30 s, 60 s.
	AttrMin, AttrMax, DirMin, DirMax time.Duration
	// NoAC is the mount option noac, LookupCacheNone is lookupcache=none.
	NoAC, LookupCacheNone bool
	// NoReplyCache makes the server execute a retransmitted call again, always.
	NoReplyCache bool
	// Faults are in force from the start; see Server.Inject.
	Faults []Fault
	// CrashAt kills the host that is about to make the CrashAt-th changing call
	// (see Server.Calls), before it is made; 0 for never.
	CrashAt int
	// Scheduler opens the gate; nil for no gate. It needs a synctest bubble, in
	// which nobody else may call synctest.Wait, and a Server.Close.
	Scheduler Scheduler
	// Latency is the time that a call takes at the gate.
	Latency time.Duration
	// Trace gets a line for each call; nil for none.
	Trace io.Writer
}

func (c *Config) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.MtimeGrain, 10*time.Millisecond)
	set(&c.AttrMin, 3*time.Second)
	set(&c.AttrMax, 60*time.Second)
	set(&c.DirMin, 30*time.Second)
	set(&c.DirMax, 60*time.Second)
	if c.Local {
		c.NoAC, c.LookupCacheNone, c.AsyncExport = true, true, true
	}
}
