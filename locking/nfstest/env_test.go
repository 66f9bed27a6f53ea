package nfstest

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
)

// The environment of a part.
const (
	envShare = "NFSTEST_SHARE" // the folder on the export
	envTalk  = "NFSTEST_TALK"  // the folder for what parts tell each other and the driver
	envProcs = "NFSTEST_PROCS" // processes of TestWorkers on this machine
	envFor   = "NFSTEST_FOR"   // how long they work
	envGrant = "NFSTEST_GRANTS"
	envBase  = "NFSTEST_BASE" // mean sleep between two tries
)

const key locking.Key = "list@example.org"

// The lock's times: as short as a slow machine bears, so that faults outlast them.
const (
	life     = 6 * time.Second
	slop     = time.Second
	base     = 200 * time.Millisecond
	takeover = 6 * time.Second
)

// place is where a part works.
type place struct {
	*testing.T
	share *fsys.Root
	talk  string
	host  hosts.Identity
}

func open(t *testing.T) *place {
	t.Helper()
	dir, talk := os.Getenv(envShare), os.Getenv(envTalk)
	if dir == "" {
		t.Skip("not inside the NFS rig: see .ci/nfs")
	}
	if err := errors.Join(os.MkdirAll(dir, 0o770), os.MkdirAll(talk, 0o770)); err != nil {
		t.Fatal(err)
	}
	share, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = share.Close() })
	id, err := hosts.Self("")
	if err != nil {
		t.Fatal(err)
	}
	return &place{t, share, talk, id}
}

// locker is one on the share; on a machine of its own gate if gate is true.
func (p *place) locker(host string, gate bool) *lockfile.Locker {
	p.Helper()
	return p.lockerOn(p.share, host, gate)
}

func (p *place) lockerOn(share fsys.FS, host string, gate bool) *lockfile.Locker {
	p.Helper()
	c := lockfile.Config{
		FS: share, Host: p.host, Lifetime: life, Slop: slop, Base: duration(p.T, envBase, base), Takeover: takeover, Detach: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)).With("host", p.host.Host),
	}
	if host != "" {
		c.Host.Host = host
	}
	if gate {
		c.LocalDir = filepath.Join(os.TempDir(), "gate")
	}
	l, err := lockfile.New(c)
	if err != nil {
		p.Fatal(err)
	}
	return l
}

// tell writes a file for the others.
func (p *place) tell(name, text string) {
	p.Helper()
	tmp := filepath.Join(p.talk, "."+name+"."+p.host.Host)
	if err := errors.Join(os.WriteFile(tmp, []byte(text), 0o666), os.Rename(tmp, filepath.Join(p.talk, name))); err != nil {
		p.Error(err)
	}
}

// told waits for a file of the others.
func (p *place) told(name string, d time.Duration) string {
	p.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(p.talk, name)); err == nil {
			return string(data)
		}
	}
	p.Fatalf("nobody said %s within %v", name, d)
	return ""
}

func number(t *testing.T, env string, def int) int {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", env, err))
	}
	return n
}

func duration(t *testing.T, env string, def time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		return def
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", env, err))
	}
	return d
}
