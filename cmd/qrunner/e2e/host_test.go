package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
)

// host is one machine's view of a share: its configuration file.
type host struct {
	t    *testing.T
	conf config.Config
	file string
	env  []string
	via  []string                  // what runs a command on that machine, where it is another
	ls   func(dir string) []string // lists files of the share, where it is not on this machine
}

// newHost makes an initialised share and the configuration of its first host. Polls
// are quick, and no file outside the test's folder is used.
func newHost(t *testing.T, name string, edit ...func(*config.Config)) *host {
	t.Helper()
	h := bareHost(t, name, edit...)
	h.must("init")
	return h
}

// bareHost is newHost before the share is made.
func bareHost(t *testing.T, name string, edit ...func(*config.Config)) *host {
	t.Helper()
	dir := t.TempDir()
	c := config.Default()
	c.Var = filepath.Join(dir, "share")
	c.Host = name
	c.Umask = "022"
	c.Lock.LocalDir = filepath.Join(dir, "local")
	c.LMTP.Listen = []string{"127.0.0.1:0"}
	c.Run.Poll = 100 * time.Millisecond
	c.Run.Heartbeat = time.Second
	c.Smarthost.TLS = "none"
	c.Smarthost.Address = "127.0.0.1:1" // nobody
	c.Site.Owner = "postmaster@site.example"
	c.Log.Format = "json"
	return (&host{t: t, conf: c}).with(name, edit...)
}

// with is another host on the same share, or the same with other settings.
func (h *host) with(name string, edit ...func(*config.Config)) *host {
	h.t.Helper()
	c := h.conf
	c.Host = name
	for _, e := range edit {
		e(&c)
	}
	var text strings.Builder
	if err := config.Print(&text, c); err != nil {
		h.t.Fatal(err)
	}
	f, err := os.CreateTemp(h.t.TempDir(), name+".*.yaml")
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = io.WriteString(f, text.String())
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		h.t.Fatal(err)
	}
	return &host{t: h.t, conf: c, file: f.Name()}
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\nstdout: %s\nstderr: %s", r.code, r.out, r.err)
}

// command is the binary with this host's configuration.
func (h *host) command(args ...string) *exec.Cmd {
	if h.via != nil {
		return exec.CommandContext(h.t.Context(), h.via[0], append(h.via[1:len(h.via):len(h.via)], args...)...)
	}
	cmd := exec.CommandContext(h.t.Context(), os.Getenv(binaryVar), args...)
	cmd.Env = append(os.Environ(), "QRUNNER_CONFIG="+h.file)
	cmd.Env = append(cmd.Env, h.env...)
	return cmd
}

// run runs a command to its end, with stdin.
func (h *host) run(stdin string, args ...string) result {
	h.t.Helper()
	return finish(h.t, h.command(args...), stdin)
}

// finish runs cmd to its end.
func finish(t *testing.T, cmd *exec.Cmd, stdin string) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("run %v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// must runs a command that has to succeed, and returns what it printed.
func (h *host) must(args ...string) string {
	h.t.Helper()
	r := h.run("", args...)
	if r.code != 0 {
		h.t.Fatalf("qrunner %s: %v", strings.Join(args, " "), r)
	}
	return r.out
}

// query runs a command with --json into v.
func (h *host) query(v any, args ...string) {
	h.t.Helper()
	out := h.must(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		h.t.Fatalf("qrunner --json %s: %v in %q", strings.Join(args, " "), err, out)
	}
}

// list makes a list with members m0000@members.example, m0001@..., without VERP
// unless the settings say so.
func (h *host) list(id string, members int, settings ...string) {
	h.t.Helper()
	args := []string{"list", "create", id, "--set", "verp_delivery_interval=0"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	h.must(args...)
	if members == 0 {
		return
	}
	if r := h.run(strings.Join(memberNames(members), "\n")+"\n", "member", "import", id); r.code != 0 {
		h.t.Fatalf("import members: %v", r)
	}
}

func memberNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("m%04d@members.example", i)
	}
	return out
}

// files lists what lies below a folder of the share, folders left out.
func (h *host) files(dir string) []string {
	h.t.Helper()
	if h.ls != nil {
		return h.ls(dir)
	}
	var out []string
	root := filepath.Join(h.conf.Var, dir)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it moves under our feet
		}
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(h.conf.Var, p)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// idle waits until nothing is on its way any more. What a dead host had staged may be
// left: it is swept ten minutes later.
func (h *host) idle() {
	h.t.Helper()
	var left []string
	h.t.Cleanup(func() {
		if h.t.Failed() && len(left) > 0 {
			h.t.Logf("still there: %v", left)
		}
	})
	until(h.t, "empty queues", func() bool {
		left = nil
		for _, q := range []string{"in", "pipeline", "out", "virgin", "command", "bounces", "archive", "retry"} {
			left = append(left, h.files("queue/"+q)...)
		}
		return len(left) == 0
	})
}
