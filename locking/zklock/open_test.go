package zklock

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"qrunner/locking/zklock/zktest"
)

// mute accepts connections and never says anything.
func mute(ctx context.Context) (net.Conn, error) {
	c, s := net.Pipe()
	go func() {
		b := make([]byte, 1024)
		for {
			if _, err := s.Read(b); err != nil {
				return
			}
		}
	}()
	return c, nil
}

func TestOpenErrors(t *testing.T) {
	for label, test := range map[string]struct {
		mod  func(*world, *Config)
		want string
		in   time.Duration // the longest it may take
	}{
		"nobody there": {func(w *world, c *Config) { w.ens.Refuse(0, true); c.ConnectTimeout = 3 * time.Second }, "s0:1", 4 * time.Second},
		"mute": {func(w *world, c *Config) {
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return mute(ctx) }
			c.ConnectTimeout = 5 * time.Second
		}, "no answer in time", 7 * time.Second},
		"too short": {func(w *world, c *Config) { c.SessionTimeout = time.Second }, "bounds, which make it 4s", time.Second},
		"too long":  {func(w *world, c *Config) { c.SessionTimeout = time.Minute }, "bounds, which make it 40s", time.Second},
		"no rights": {func(w *world, c *Config) { w.ens.Once(zktest.IsOp("create"), zktest.Fate{Code: zktest.CodeNoAuth}) }, "no permission", time.Second},
		"authentication": {func(w *world, c *Config) {
			c.Digest = "u:p"
			w.ens.Once(zktest.IsOp("setAuth"), zktest.Fate{Code: zktest.CodeAuthFailed})
		}, "authenticat", time.Second},
		"no servers":      {func(w *world, c *Config) { c.Servers = nil }, "no servers", 0},
		"bad server":      {func(w *world, c *Config) { c.Servers = []string{"a:b:c"} }, "a:b:c", 0},
		"bad root":        {func(w *world, c *Config) { c.Root = "locks" }, "absolute", 0},
		"bad root 2":      {func(w *world, c *Config) { c.Root = "/a//b" }, "empty", 0},
		"bad digest":      {func(w *world, c *Config) { c.Digest = "user" }, "user:password", 0},
		"bad naming":      {func(w *world, c *Config) { c.Naming = "curator" }, "curator", 0},
		"bad timeout":     {func(w *world, c *Config) { c.SessionTimeout = -1 }, "session timeout", 0},
		"root is no root": {func(w *world, c *Config) { w.ens.Create("/eph", nil, 7); c.Root = "/eph/x" }, "ephemeral", time.Second},
	} {
		t.Run(label, func(t *testing.T) {
			bubble(t, zktest.Config{}, func(w *world) {
				w.mod = func(c *Config) { test.mod(w, c) }
				start := time.Now()
				_, err := w.open(0)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "u:p") {
					t.Errorf("got %v, want something with %q", err, test.want)
				}
				if d := time.Since(start); d > test.in+2*time.Second {
					t.Errorf("after %v", d)
				}
			})
		})
	}
}

// One server of two says nothing: the other is found in a part of the session timeout.
func TestOpenPassesMuteServer(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.mod = func(c *Config) {
			dial := c.Dial
			c.Servers = []string{"mute:1", "s0:1"}
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr == "mute:1" {
					return mute(ctx)
				}
				return dial(ctx, network, addr)
			}
		}
		for n := range 4 {
			w.unlock(w.lock(n))
		}
	})
}
