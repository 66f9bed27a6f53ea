package zklock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/clock"
	"qrunner/locking/hosts"
	"qrunner/locking/locktest"
	"qrunner/locking/zklock/zktest"
)

const (
	listKey locking.Key = "list@example.org"
	listDir             = "/qrunner/locks/" + string(listKey)
	timeout             = 12 * time.Second
)

// world is an ensemble in memory and the Lockers of some hosts.
type world struct {
	*testing.T
	ens   *zktest.Ensemble
	mod   func(*Config)
	at    map[int]*simLocker
	start time.Time
}

// simLocker is a Locker whose host can crash and be cut off.
type simLocker struct {
	*Locker
	link *zktest.Link
}

func (s *simLocker) Cut()   { s.link.Cut() }
func (s *simLocker) Heal()  { s.link.Heal() }
func (s *simLocker) Crash() { s.link.Cut() }

func newWorld(t *testing.T, cfg zktest.Config, mod func(*Config)) *world {
	w := &world{T: t, ens: zktest.New(cfg), mod: mod, at: map[int]*simLocker{}, start: time.Now()}
	t.Cleanup(w.ens.Close)
	return w
}

// host returns the Locker of host n, the same one each time.
func (w *world) host(n int) *simLocker {
	w.Helper()
	if w.at[n] == nil {
		l, err := w.open(n)
		if err != nil {
			w.Fatal(err)
		}
		w.at[n] = l
	}
	return w.at[n]
}

func (w *world) open(n int) (*simLocker, error) {
	link := w.ens.Link()
	name := fmt.Sprintf("h%d", n)
	cfg := Config{
		Servers: w.ens.Addrs(), SessionTimeout: timeout, Host: hosts.Identity{Host: name, PID: 100 + n},
		Mono: clock.Since(w.start), Dial: link.Dial,
		Log: slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})).With("host", name),
	}
	if w.mod != nil {
		w.mod(&cfg)
	}
	l, err := Open(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	w.Cleanup(func() { _ = l.Close() })
	return &simLocker{l, link}, nil
}

func (w *world) lock(n int, opts ...locking.Option) *Lease {
	w.Helper()
	le, err := w.host(n).Lock(context.Background(), listKey, locking.Exclusive, opts...)
	if err != nil {
		w.Fatalf("lock by host %d: %v", n, err)
	}
	return le.(*Lease)
}

func (w *world) unlock(le locking.Lease) {
	w.Helper()
	if err := le.Unlock(context.Background()); err != nil {
		w.Fatalf("unlock: %v", err)
	}
}

// nodes are the contenders of listKey, as the leader has them.
func (w *world) nodes() []string {
	var out []string
	for _, name := range w.ens.Nodes(listDir + "/") {
		out = append(out, strings.TrimPrefix(name, listDir+"/"))
	}
	return out
}

// clean fails the test if a contender is left.
func (w *world) clean() {
	w.Helper()
	if left := w.nodes(); len(left) != 0 {
		w.Errorf("nodes left: %q", left)
	}
}

func TestConformance(t *testing.T) {
	for name, cfg := range map[string]zktest.Config{"one server": {}, "three servers": {Servers: 3}} {
		t.Run(name, func(t *testing.T) {
			locktest.Run(t, locktest.Setup{
				New: func(t *testing.T) locktest.Open {
					w := newWorld(t, cfg, nil)
					return func(n int) locking.Locker { return w.host(n) }
				},
				Bubble: true, Lifetime: timeout, Takeover: timeout + 2*time.Second, Poll: time.Second, Shared: true,
			})
		})
	}
}

func isHeld(err error) bool { return errors.Is(err, locking.ErrHeld) }
