package e2e

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"qrunner/cmd/qrunner/config"
)

// ownedShare is a share that belongs to a user whom daemons and commands change to.
// The test must run as root.
func ownedShare(t *testing.T, name string, edit ...func(*config.Config)) *host {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	h := bareHost(t, "a", append(edit, func(c *config.Config) { c.User = name })...)
	for _, dir := range []string{h.conf.Var, h.conf.Lock.LocalDir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	// Names of test folders may be closed to others, as t.TempDir makes them.
	for dir := filepath.Dir(h.conf.Var); dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir := filepath.Dir(h.file); dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h.must("init")
	return h
}
