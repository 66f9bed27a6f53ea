package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
)

// TestBadConfig: admin commands end with 78 and name file, line and remedy; the pipe
// target ends with 75, since no MTA may bounce a post for it.
func TestBadConfig(t *testing.T) {
	h := newHost(t, "a")
	h.list("ant@lists.example.com", 1)
	mail := message(poster, "ant@lists.example.com", "x@posts.example")
	for name, tc := range map[string]struct{ text, want string }{
		"unknown key": {"var: " + h.conf.Var + "\nsmarthots:\n  address: x\n", "x.yaml:2: smarthots: unknown key (known here: var, host"},
		"bad value":   {"run:\n  poll: soon\n", `x.yaml:2: run.poll: "soon" is not a span of time`},
		"no YAML":     {"var: [\n", "the file must be YAML"},
		"missing":     {"", "copy config.example.yaml there"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.yaml")
			if tc.text != "" {
				if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h := &host{t: t, conf: h.conf, file: file}
			for _, args := range [][]string{{"config", "check"}, {"list", "ls"}, {"run"}, {"init"}} {
				r := h.run("", args...)
				if r.code != 78 || !strings.Contains(r.err, tc.want) || strings.Count(r.err, "\n") != 1 {
					t.Errorf("%v: %v, want 78 and one line with %q", args, r, tc.want)
				}
			}
			for _, args := range [][]string{{"deliver", "-f", poster, "ant@lists.example.com"}, {"deliver", "post", "nosuch"}} {
				if r := h.run(mail, args...); r.code != 75 || !strings.HasPrefix(r.out, "4.3.") {
					t.Errorf("%v: %v, want 75", args, r)
				}
			}
		})
	}
}

// TestUnmounted: a share that is not there, or not the right thing, makes no mail
// bounce: without the marker "no such list" cannot be known.
func TestUnmounted(t *testing.T) {
	const list = "ant@lists.example.com"
	h := newHost(t, "a")
	h.list(list, 1)
	d := h.start()
	empty := h.with("a", func(c *config.Config) { c.Var = t.TempDir() })
	absent := h.with("a", func(c *config.Config) { c.Var = filepath.Join(t.TempDir(), "no") })
	file := h.with("a", func(c *config.Config) { c.Var = h.file })
	mail := message(poster, list, "x@posts.example")
	for _, bad := range []*host{empty, absent, file} {
		for _, to := range []string{list, "nosuch@lists.example.com"} {
			if r := bad.run(mail, "deliver", "-f", poster, to); r.code != 75 || !strings.HasPrefix(r.out, "4.") {
				t.Errorf("var %s, to %s: %v, want 75", bad.conf.Var, to, r)
			}
		}
		if r := bad.run("", "run"); r.code == 0 || r.err == "" {
			t.Errorf("var %s: run: %v", bad.conf.Var, r)
		}
		if files, _ := os.ReadDir(bad.conf.Var); len(files) > 0 {
			t.Errorf("made something on a share that is none: %v", files)
		}
	}
	// The share goes away under a daemon.
	marker := filepath.Join(h.conf.Var, "qrunner.site")
	c := d.lmtp()
	c.ok("MAIL FROM:<"+poster+">", "250")
	c.ok("RCPT TO:<nosuch@lists.example.com>", "550 5.1.1")
	if err := os.Rename(marker, marker+".away"); err != nil {
		t.Fatal(err)
	}
	c.ok("RCPT TO:<nosuch@lists.example.com>", "451 4.3.0")
	if r := h.run(mail, "deliver", "-f", poster, "nosuch@lists.example.com"); r.code != 75 {
		t.Errorf("pipe without the marker: %v, want 75", r)
	}
	if err := os.Rename(marker+".away", marker); err != nil {
		t.Fatal(err)
	}
	c.ok("RCPT TO:<nosuch@lists.example.com>", "550 5.1.1")
	if r := h.run(mail, "deliver", "-f", poster, "nosuch@lists.example.com"); r.code != 67 {
		t.Errorf("pipe with the marker: %v, want 67", r)
	}
	d.stop()
}

// TestSecondDaemon: two daemons with one host name would break each other's locks.
func TestSecondDaemon(t *testing.T) {
	h := newHost(t, "a")
	d := h.start()
	r := h.run("", "run")
	if r.code == 0 || !strings.Contains(r.err, "register host a") {
		t.Errorf("second daemon: %v", r)
	}
	t.Log(r.err)
	d.stop()
	h.start().stop()
}
