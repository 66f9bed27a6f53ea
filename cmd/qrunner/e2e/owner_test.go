package e2e

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
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

// TestUser: with user configured, daemon and commands started as root work as that
// user, and all that they make on the share is his.
func TestUser(t *testing.T) {
	needRoot(t)
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := ownedShare(t, "nobody", func(c *config.Config) { c.Smarthost.Address, c.Umask = addr, "077" })
	h.list(list, 3)
	d := h.start()
	d.lmtp().post(poster, message(poster, list, "lmtp@posts.example"), list)
	if r := h.run(message(poster, list, "pipe@posts.example"), "deliver", "-f", poster, list); r.code != 0 {
		t.Fatal(r)
	}
	if err := sink.Wait(patient(t), 6); err != nil {
		t.Fatal(err)
	}
	h.idle()
	d.stop()
	h.must("held", "ls", list)
	u, _ := user.Lookup("nobody")
	err := filepath.WalkDir(h.conf.Var, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		st, _ := info.Sys().(*syscall.Stat_t)
		if strconv.Itoa(int(st.Uid)) != u.Uid {
			t.Errorf("%s belongs to user %d", name, st.Uid)
		}
		if name != h.conf.Var && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v under umask 077", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWrongOwner: a share that the configured user may not write is trouble of ours:
// 451 and 75, and nothing bounces.
func TestWrongOwner(t *testing.T) {
	needRoot(t)
	const list = "ant@lists.example.com"
	h := ownedShare(t, "nobody")
	h.list(list, 1)
	d := h.start()
	if out, err := exec.Command("chown", "-R", "root:root", h.conf.Var).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("chmod", "-R", "go-w", h.conf.Var).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mail := message(poster, list, "x@posts.example")
	if r := h.run(mail, "deliver", "-f", poster, list); r.code != 75 || !strings.HasPrefix(r.out, "4.") {
		t.Errorf("pipe: %v, want 75", r)
	}
	c := d.lmtp()
	c.ok("MAIL FROM:<"+poster+">", "250")
	if got := c.say("RCPT TO:<" + list + ">"); strings.HasPrefix(got, "250") {
		if got = c.data(mail, 1)[0]; !strings.HasPrefix(got, "45") {
			t.Errorf("LMTP: %q, want 451 or 452", got)
		}
	} else if !strings.HasPrefix(got, "451") {
		t.Errorf("RCPT: %q, want 451", got)
	}
	if r := h.run("", "member", "add", list, "x@x.example"); r.code == 0 || r.err == "" {
		t.Errorf("member add: %v", r)
	}
}
