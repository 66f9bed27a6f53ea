package zklock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// Level says how bad a Finding is.
type Level string

// The levels of a Finding.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warning"
	LevelFail Level = "failure"
)

// Finding is one thing that Probe looked at.
type Finding struct {
	Level  Level
	What   string // "server zk1:2181", "session", "rights", "latency", "lock"
	Detail string
	err    error
}

// Is reports whether the finding is a failure with that cause (errors.Is).
func (f Finding) Is(target error) bool { return errors.Is(f.err, target) }

func failure(what string, err error) Finding { return Finding{LevelFail, what, err.Error(), err} }

func good(what, format string, args ...any) Finding {
	return Finding{Level: LevelOK, What: what, Detail: fmt.Sprintf(format, args...)}
}

func warning(what, format string, args ...any) Finding {
	return Finding{Level: LevelWarn, What: what, Detail: fmt.Sprintf(format, args...)}
}

// probeKey is the lock that Probe takes.
const probeKey locking.Key = "_probe"

// probeWrites is how many writes the latency is measured by.
const probeWrites = 9

// Probe looks whether an ensemble is fit for locks with this configuration: each server by
// itself, the session timeout, rights, the time that writes take, and one lock. It
// leaves nothing behind but the root and an empty container.
func Probe(ctx context.Context, cfg Config) []Finding {
	var out []Finding
	for _, server := range zk.FormatServers(cfg.Servers) {
		out = append(out, probeServer(ctx, cfg, server))
	}
	start := time.Now()
	l, err := Open(ctx, cfg)
	if err != nil {
		return append(out, failure("session", err))
	}
	defer func() { _ = l.Close() }()
	out = append(out,
		good("session", "open after %v, timeout %v, which the servers allow", time.Since(start).Round(time.Millisecond), l.cfg.SessionTimeout),
		l.probeRights(ctx), l.probeLatency(ctx))
	le, err := l.TryLock(ctx, probeKey, locking.Exclusive, locking.WithNote("probe"))
	var held *locking.HeldError
	switch {
	case errors.As(err, &held):
		return append(out, warning("lock", "another probe is running: %v", held))
	case err == nil:
		err = le.Verify(ctx)
		err = errors.Join(err, le.Unlock(ctx))
	}
	if err != nil {
		return append(out, failure("lock", err))
	}
	return append(out, good("lock", "taken, verified and given back"))
}

// probeServer opens a session at one server alone.
func probeServer(ctx context.Context, cfg Config, server string) Finding {
	what := "server " + server
	cfg.Servers = []string{server}
	start := time.Now()
	l, err := Open(ctx, cfg)
	if err != nil {
		return failure(what, err)
	}
	took := time.Since(start)
	_ = l.Close()
	detail := fmt.Sprintf("session after %v", took.Round(time.Millisecond))
	if words := l.s.askServer(ctx, server); words != "" {
		detail += ", " + words
	}
	return good(what, "%s", detail)
}

// askServer asks a server for its version and whether it leads, by the four-letter word
// that servers answer unless that is switched off.
func (s *session) askServer(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, s.dialTime())
	defer cancel()
	conn, err := s.open(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 4096)) // servers just hang up after it
	var words []string
	for line := range strings.Lines(string(answer)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && (name == "Zookeeper version" || name == "Mode") {
			value, _, _ = strings.Cut(value, ",")
			words = append(words, strings.ToLower(name)+" "+value)
		}
	}
	return strings.Join(words, ", ")
}

// probeRights warns of a root that everybody may write to.
func (l *Locker) probeRights(ctx context.Context) Finding {
	acl, err := persist(ctx, l.s, func(c *zk.Conn) ([]zk.ACL, error) {
		acl, _, err := c.GetACL(l.cfg.Root)
		return acl, err
	})
	if err != nil {
		return failure("rights", err)
	}
	for _, a := range acl {
		if a.Scheme == "world" && a.Perms&(zk.PermWrite|zk.PermCreate|zk.PermDelete) != 0 {
			return warning("rights", "anybody may change %s: authenticate, and set its ACL", l.cfg.Root)
		}
	}
	if l.cfg.Digest == "" {
		return warning("rights", "without authentication anybody may remove lock nodes")
	}
	return good("rights", "%s is for the given user", l.cfg.Root)
}

// probeLatency measures writes.
func (l *Locker) probeLatency(ctx context.Context) Finding {
	var took []time.Duration
	for range probeWrites {
		start := time.Now()
		if _, err := call(ctx, l.s, check(l.cfg.Root)); err != nil {
			return failure("latency", err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	mid, worst := took[len(took)/2], took[len(took)-1]
	f := good("latency", "a write takes %v, at worst %v of %d", mid.Round(10*time.Microsecond), worst.Round(10*time.Microsecond), probeWrites)
	if worst > l.cfg.SessionTimeout/(2*beatParts) {
		f.Level = LevelWarn
		f.Detail += fmt.Sprintf("; slower than %v puts leases of %v at risk", l.cfg.SessionTimeout/(2*beatParts), l.cfg.SessionTimeout)
	}
	return f
}
