package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demo is the command with a TMPDIR of its own.
func demo(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Getenv(binaryVar), append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd, dir
}

func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in TMPDIR: %v, %v", left, err)
	}
}

// TestDemo: it ends by itself within a minute, shows what it promises, leaves nothing.
func TestDemo(t *testing.T) {
	cmd, dir := demo(t)
	began := time.Now()
	r := finish(t, cmd, "")
	if r.code != 0 || r.err != "" {
		t.Errorf("demo: %v", r)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("demo took %v", took)
	}
	for _, want := range []string{
		"1-member.eml    250 ", "accepted", "2-stranger.eml  250 ", "held", "3-loop.eml      250 ", "discarded", "4-repeat.eml    250 ", "repeat",
		"anne@example.org      ant-bounces+1.", "emil+tag@example.org  ant-bounces+5.",
		"    Subject: [Ant] Ants in the kitchen\n", "    List-Id: ", "    Leave: mail to ant-leave@lists.example.com\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the demo does not show %q:\n%s", want, r.out)
		}
	}
	nothingLeft(t, dir)
}

// TestDemoKeep: with --keep the daemon goes on and takes posts until Ctrl-C.
func TestDemoKeep(t *testing.T) {
	cmd, dir := demo(t, "--keep")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lmtp, running := "", false
	for sc := bufio.NewScanner(out); !running && sc.Scan(); {
		if f := strings.Fields(sc.Text()); len(f) == 2 && f[0] == "LMTP" {
			lmtp = f[1]
		}
		running = strings.HasPrefix(sc.Text(), "Running on ")
	}
	if !running {
		t.Fatal("the demo does not keep running")
	}
	c := dial(t, "tcp", lmtp, "LHLO")
	c.post("anne@example.org", message("anne@example.org", "ant@lists.example.com", "kept@posts.example"), "ant@lists.example.com")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("demo --keep after SIGINT: %v", err)
	}
	nothingLeft(t, dir)
}
