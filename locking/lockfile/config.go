package lockfile

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"qrunner/locking"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
)

// Config is what a Locker needs. The durations that must be alike on all hosts of a
// share are Slop and Takeover; a lock's lifetime stands in its record.
type Config struct {
	// FS is the share, Root the folder of all locks in it (default "locks").
	FS   fsys.FS
	Root string
	// Plain makes a lock the file of its key's name in Root, which may be "." and may
	// hold files of others; Root is then not made if it is missing. List is not
	// supported.
	Plain bool
	// Host is this process; its Host and PID stand in the names of its files.
	Host hosts.Identity
	// Proc looks up other processes of this machine (default hosts.Process).
	Proc hosts.Proc
	// Lifetime is how long a lease lasts without a refresh, at least 1 ms and at most
	// a day; there is no default. A refresh comes every fifth of it.
	Lifetime time.Duration
	// Slop is what is allowed for clocks that run unevenly (default 10 s).
	Slop time.Duration
	// Base is the mean sleep between two tries (default 1 s); each differs from it
	// by up to 32 % either way.
	Base time.Duration
	// ExamineEvery says at which tries the lock's content is looked at (default 10).
	ExamineEvery int
	// Takeover is the age at which the ticket of a breaker that died in the middle
	// may be overridden (default 60 s); for a lock whose lifetime and slop are less
	// together, it is they. A live breaker gives up after half of it.
	Takeover time.Duration
	// SweepEvery is how often, at most, a holder looks for left-over files in its
	// lock's folder (default 1 h); SweepAge is how old those must be whose owner
	// may still live (default 24 h).
	SweepEvery time.Duration
	SweepAge   time.Duration
	// SharedAsExclusive grants locking.Shared as if it were Exclusive instead of
	// refusing it.
	SharedAsExclusive bool
	// LocalDir is a folder of this machine alone, for a gate that makes the
	// processes of the machine queue up in front of the share; "" for none. The
	// gate is advisory: after LocalWait (default 5 s) a process goes on without.
	LocalDir  string
	LocalWait time.Duration
	// Detach lets Lock, TryLock and Unlock return twice the base sleep after the end
	// of their context even if a call on the share hangs; what is left to do is then
	// done when the call comes back. It costs some 20 us a call. A lease's own
	// deadline never depends on it.
	Detach bool
	// Mono is the host's clock (default clock.Boot).
	Mono clock.Mono
	// Rand gives the jitter and the names; nil means one seeded by the system. The
	// Locker has it for itself.
	Rand *rand.Rand
	// Log gets breaks, losses and what cannot be told to a caller; nil discards.
	Log *slog.Logger
	// Observe is told of grants, waits, breaks and losses as they happen; it must
	// not block and must not call the Locker. May be nil.
	Observe func(Event)
}

// maxLifetime is the longest lifetime asked for or believed.
const maxLifetime = 24 * time.Hour

// Locker makes leases out of files on the share. It implements locking.Locker; all
// methods may be called from any goroutine. It needs no closing.
type Locker struct {
	cfg   Config
	local *local // nil: no gate in front of the share

	mu    sync.Mutex // guards what follows; never held across a call on the share
	slots map[locking.Key]*slot
	rand  *rand.Rand
	count counters
}

var (
	_ locking.Operator = (*Locker)(nil)
	_ locking.Breaker  = (*Locker)(nil)
)

// New checks cfg, fills in its defaults, and opens the local gate. It does no I/O on
// the share.
func New(cfg Config) (*Locker, error) {
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	l := &Locker{cfg: cfg, slots: map[locking.Key]*slot{}, rand: cfg.Rand}
	if cfg.LocalDir != "" {
		var err error
		if l.local, err = openLocal(cfg.LocalDir); err != nil {
			return nil, fmt.Errorf("lock file: %w", err)
		}
	}
	return l, nil
}

func (c *Config) setDefaults() {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Slop, 10*time.Second)
	def(&c.Base, time.Second)
	def(&c.Takeover, time.Minute)
	def(&c.SweepEvery, time.Hour)
	def(&c.SweepAge, 24*time.Hour)
	def(&c.LocalWait, 5*time.Second)
	if c.Root == "" {
		c.Root = "locks"
	}
	if c.ExamineEvery == 0 {
		c.ExamineEvery = 10
	}
	if c.Proc == nil {
		c.Proc = hosts.Process
	}
	if c.Mono == nil {
		c.Mono = clock.Boot
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Rand == nil {
		var seed [32]byte
		_, _ = crand.Read(seed[:]) // never fails (crypto/rand)
		c.Rand = rand.New(rand.NewChaCha8(seed))
	}
}

func (c *Config) check() error {
	if c.FS == nil {
		return errors.New("no file system")
	}
	if !hosts.ValidName(c.Host.Host) {
		return fmt.Errorf("host name %q is not valid", c.Host.Host)
	}
	if c.Host.PID <= 0 {
		return fmt.Errorf("process number %d: must be positive", c.Host.PID)
	}
	if err := checkLifetime(c.Lifetime); err != nil {
		return err
	}
	for name, d := range map[string]time.Duration{
		"slop": c.Slop, "base sleep": c.Base, "takeover": c.Takeover,
		"sweep interval": c.SweepEvery, "sweep age": c.SweepAge, "local wait": c.LocalWait,
	} {
		if d < 0 {
			return fmt.Errorf("%s %v: must be positive", name, d)
		}
	}
	if c.ExamineEvery < 0 {
		return fmt.Errorf("examine every %d tries: must be positive", c.ExamineEvery)
	}
	return nil
}

func checkLifetime(d time.Duration) error {
	if d < time.Millisecond || d > maxLifetime {
		return fmt.Errorf("lifetime %v: must be at least 1ms and at most %v", d, maxLifetime)
	}
	return nil
}

// jitter is one sleep: the base +/- 32 %.
func (l *Locker) jitter() time.Duration {
	l.mu.Lock()
	f := l.rand.Float64()
	l.mu.Unlock()
	return time.Duration(float64(l.cfg.Base) * (1 + 0.32*(2*f-1)))
}

// random makes n*64 random bits in hex.
func (l *Locker) random(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := make([]byte, 0, 16)
	for range n {
		b = binary.BigEndian.AppendUint64(b, l.rand.Uint64())
	}
	return hex.EncodeToString(b)
}

// sleep waits for d, and reports whether ctx is still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
