package hosts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// Config is what a Registry needs.
type Config struct {
	// FS is the share, Dir the folder of the registrations in it (default "hosts").
	FS  fsys.FS
	Dir string
	// Self is this process. Proc looks up others of this machine (default Process).
	Self Identity
	Proc Proc
	// Every is the time between two heartbeats (default 10 s). A registration
	// without one for six times as long is stale.
	Every time.Duration
	// Mono is the host's clock (default clock.Boot).
	Mono clock.Mono
	// Log gets what nobody waits for: lost heartbeats. Default: discarded.
	Log *slog.Logger
}

// staleBeats is how many heartbeats must be missing before a host counts as gone;
// watchBeats is how many of them we must have seen missing ourselves.
const (
	staleBeats = 6
	watchBeats = 3
)

// patience is how long a process of this machine that has the name may take to end:
// one that was just killed or told to stop is waited for.
const patience = 5 * time.Second

// ErrDouble: another machine that is alive is registered under this host's name.
var ErrDouble = errors.New("another machine is registered under this host's name: " +
	"give each machine a host name of its own in the configuration")

// runningError is ErrDouble where the other one is a process of this machine.
type runningError struct {
	host string
	pid  int
}

// Error says which process has the name, and what to do.
func (e *runningError) Error() string {
	return fmt.Sprintf("another qrunner with host name %q runs here (pid %d): stop it, or give this one a name of its own (host: in the configuration)", e.host, e.pid)
}

// Is makes it an ErrDouble.
func (e *runningError) Is(target error) bool { return target == ErrDouble }

// Registry is the set of registered hosts, seen from one of them.
type Registry struct{ cfg Config }

// New checks cfg and fills in its defaults. It does no I/O.
func New(cfg Config) (*Registry, error) {
	if cfg.FS == nil {
		return nil, errors.New("host registry: no file system")
	}
	if !ValidName(cfg.Self.Host) {
		return nil, fmt.Errorf("host registry: host name %q is not valid", cfg.Self.Host)
	}
	if cfg.Every < 0 {
		return nil, fmt.Errorf("host registry: heartbeat every %v: must be positive", cfg.Every)
	}
	if cfg.Every == 0 {
		cfg.Every = 10 * time.Second
	}
	if cfg.Dir == "" {
		cfg.Dir = "hosts"
	}
	if cfg.Proc == nil {
		cfg.Proc = Process
	}
	if cfg.Mono == nil {
		cfg.Mono = clock.Boot
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Self.Nonce == "" {
		cfg.Self.Nonce = nonce()
	}
	return &Registry{cfg}, nil
}

// Known is the Identity of a process that does not register itself, a command for
// instance: Registered is set if this machine has its name from another process of the
// same boot. Trouble of the share means no, and is no error.
func (r *Registry) Known() Identity {
	id := r.cfg.Self
	s, err := r.look(id.Host)
	id.Registered = err == nil && s.valid && s.id.Host == id.Host && s.id.Boot == id.Boot
	return id
}

// Host is a line of List.
type Host struct {
	Identity
	// Seen is the last heartbeat by the server's clock; Age is how long ago that
	// was, by the same clock.
	Seen time.Time
	Age  time.Duration
	// Alive says that Age is less than what makes a host stale.
	Alive bool
	// Invalid says that the registration could not be read.
	Invalid bool
}

// Alive reports whether host has a registration with a recent heartbeat, judged by
// the server's clock. A host that is not registered is not alive.
func (r *Registry) Alive(ctx context.Context, host string) (bool, error) {
	list, err := r.List(ctx)
	if err != nil {
		return false, err
	}
	for _, h := range list {
		if h.Host == host {
			return h.Alive, nil
		}
	}
	return false, nil
}
