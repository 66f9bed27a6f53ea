package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// postfix is a Postfix instance of a test's own: configuration, queue, data and log.
type postfix struct {
	t    *testing.T
	dir  string
	addr string // of its smtpd
}

// startPostfix runs an instance with the usual services, not chrooted, that listens on
// a free port of 127.0.0.1. params are lines of main.cf; {dir} is the instance's folder.
func startPostfix(t *testing.T, name string, params ...string) *postfix {
	t.Helper()
	need(t, "postfix")
	needRoot(t)
	p := &postfix{t: t, dir: postfixDir(t), addr: freePort(t)}
	text := strings.Join(params, "\n") + "\n"
	for _, line := range defaultMainCf {
		if key, _, _ := strings.Cut(line, " ="); !strings.Contains("\n"+text, "\n"+key+" =") {
			text += line + "\n"
		}
	}
	p.write("main.cf", strings.ReplaceAll(text+"myhostname = "+name+".example\n", "{dir}", p.dir))
	p.write("master.cf", strings.ReplaceAll(masterCf, "{smtpd}", p.addr))
	for _, d := range []string{"queue", "data"} {
		if err := os.Mkdir(filepath.Join(p.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("chown", "postfix", filepath.Join(p.dir, "data")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.start()
	return p
}

// defaultMainCf is what a test's instance has unless the test says otherwise.
var defaultMainCf = []string{
	"compatibility_level = 3.6", "queue_directory = {dir}/queue", "data_directory = {dir}/data",
	"mail_owner = postfix", "setgid_group = postdrop", "mydestination =", "inet_interfaces = 127.0.0.1",
	"inet_protocols = ipv4", "mynetworks = 127.0.0.0/8", "disable_dns_lookups = yes", "smtp_host_lookup = native",
	"maillog_file = {dir}/log", "maillog_file_prefixes = {dir}", "alias_maps =", "alias_database =", "biff = no",
	"in_flow_delay = 0", "default_process_limit = 20", "smtpd_client_connection_count_limit = 0",
	"smtpd_recipient_limit = 2000", "minimal_backoff_time = 1s", "maximal_backoff_time = 2s", "queue_run_delay = 1s",
	"smtpd_relay_restrictions = permit_mynetworks, reject", "smtpd_peername_lookup = no",
}

// masterCf has no service that listens elsewhere.
const masterCf = `
{smtpd} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
verify unix - - n - 1 verify
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

// postfixDir is in memory where there is such a place: Postfix syncs a lot.
func postfixDir(t *testing.T) string {
	t.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "qrunner-e2e-postfix-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	return t.TempDir()
}

func (p *postfix) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// start runs the master as our child, and waits until its smtpd answers.
func (p *postfix) start() {
	p.t.Helper()
	cmd := exec.Command("postfix", "-c", p.dir, "start-fg")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	p.t.Cleanup(func() {
		_ = exec.Command("postfix", "-c", p.dir, "stop").Run() // gone already is as good
		select {
		case <-ended:
		case <-time.After(patience):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		if p.t.Failed() {
			log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			p.t.Logf("postfix: %s\n%s", out.String(), log[max(0, len(log)-4000):])
		}
	})
	until(p.t, "answer of postfix", func() bool {
		select {
		case <-ended:
			p.t.Fatal("postfix ended")
		default:
		}
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			return false
		}
		defer c.Close()
		hello := make([]byte, 3)
		_, err = c.Read(hello)
		return err == nil && string(hello) == "220"
	})
}

// freePort is an address of 127.0.0.1 that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// queued is the names of the messages that the instance has not delivered yet.
func (p *postfix) queued() []string {
	p.t.Helper()
	var out []string
	for _, q := range []string{"incoming", "active", "deferred", "maildrop"} {
		err := filepath.WalkDir(filepath.Join(p.dir, "queue", q), func(name string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err == nil && !d.IsDir() {
				out = append(out, name)
			}
			return err
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return out
}

// nexthop is an address as a Postfix next hop.
func nexthop(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	return fmt.Sprintf("[%s]:%s", host, port)
}
