package zklock

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"qrunner/locking/hosts"
)

// realTick is the servers' tick; sessions may ask for 2 to 20 of them.
const (
	realTick    = 500 * time.Millisecond
	realTimeout = 12 * realTick
)

// member is one real ZooKeeper server.
type member struct {
	n    int
	addr string
	dir  string
	args []string
	cmd  *exec.Cmd
}

// ensemble is some of them on this machine.
type ensemble struct {
	members []*member
}

// ports finds ports that are free now.
func ports(t testing.TB, n int) []int {
	t.Helper()
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// startEnsemble starts servers and waits until they have a leader.
func startEnsemble(t testing.TB, n int, flags ...string) *ensemble {
	need(t, "zookeeper")
	p := ports(t, 3*n)
	cfg := fmt.Sprintf("tickTime=%d\ninitLimit=60\nsyncLimit=20\nadmin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n", realTick.Milliseconds())
	if n > 1 {
		for i := range n {
			cfg += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[3*i+1], p[3*i+2])
		}
	}
	e := &ensemble{}
	for i := range n {
		m := &member{n: i, addr: fmt.Sprintf("127.0.0.1:%d", p[3*i]), dir: t.TempDir()}
		file := filepath.Join(m.dir, "zoo.cfg")
		text := cfg + fmt.Sprintf("dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n", m.dir, p[3*i])
		for name, data := range map[string]string{file: text, filepath.Join(m.dir, "myid"): strconv.Itoa(i + 1)} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.args = append([]string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}, flags...)
		m.args = append(m.args, "-cp", classPath(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
		m.start(t)
		e.members = append(e.members, m)
	}
	t.Cleanup(func() {
		for _, m := range e.members {
			m.kill()
		}
	})
	e.wait(t)
	return e
}

func (m *member) start(t testing.TB) {
	t.Helper()
	m.cmd = exec.Command("java", m.args...)
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := os.OpenFile(filepath.Join(m.dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	m.cmd.Stdout, m.cmd.Stderr = out, out
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

func (m *member) signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// ask sends a four-letter word.
func (m *member) ask(word string) string {
	conn, err := net.DialTimeout("tcp", m.addr, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := conn.Write([]byte(word)); err != nil {
		return ""
	}
	b, _ := io.ReadAll(conn)
	return string(b)
}

// mode is "leader", "follower", "standalone", or something else.
func (m *member) mode() string {
	for line := range strings.Lines(m.ask("srvr")) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode)
		}
	}
	return ""
}

// wait waits until all servers serve.
func (e *ensemble) wait(t testing.TB) {
	t.Helper()
	until(t, 90*time.Second, "the servers to serve", func() bool {
		up := 0
		for _, m := range e.members {
			switch m.mode() {
			case "leader", "follower", "standalone":
				up++
			}
		}
		return up == len(e.members)
	})
}

// until asks again and again for something that no event tells of.
func until(t testing.TB, d time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !f(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", d, what)
		}
	}
}

func (e *ensemble) addrs() []string {
	var out []string
	for _, m := range e.members {
		out = append(out, m.addr)
	}
	return out
}

// leader is the server that leads.
func (e *ensemble) leader(t testing.TB) *member {
	t.Helper()
	var lead *member
	until(t, 30*time.Second, "a leader", func() bool {
		for _, m := range e.members {
			if mode := m.mode(); mode == "leader" || mode == "standalone" {
				lead = m
			}
		}
		return lead != nil
	})
	return lead
}

// total adds up a number that each server says in answer to a word.
func (e *ensemble) total(word, prefix string) int {
	sum := 0
	for _, m := range e.members {
		for line := range strings.Lines(m.ask(word)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				n, _ := strconv.Atoi(v)
				sum += n
			}
		}
	}
	return sum
}

// config is how host n gets to the ensemble.
func (e *ensemble) config(root string, n int) Config {
	return Config{
		Servers: e.addrs(), Root: root, SessionTimeout: realTimeout, ConnectTimeout: 30 * time.Second,
		Host: hosts.Identity{Host: fmt.Sprintf("h%d", n), PID: os.Getpid()},
	}
}

func open(t testing.TB, cfg Config) *Locker {
	t.Helper()
	l, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// cable is a network connection that can be cut.
type cable struct {
	*Locker
	mu   sync.Mutex
	heal chan struct{} // closed when whole
}

func openCable(t testing.TB, cfg Config) *cable {
	c := &cable{heal: make(chan struct{})}
	close(c.heal)
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case <-c.whole():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &strand{Conn: conn, c: c, gone: make(chan struct{})}, nil
	}
	c.Locker = open(t, cfg)
	t.Cleanup(c.Heal)
	return c
}

func (c *cable) whole() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heal
}

func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heal = make(chan struct{})
}

func (c *cable) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.heal:
	default:
		close(c.heal)
	}
}

// Crash is a Cut for good.
func (c *cable) Crash() { c.Cut() }

// strand is one connection through the cable.
type strand struct {
	net.Conn
	c    *cable
	gone chan struct{}
	once sync.Once
}

func (s *strand) pass() {
	select {
	case <-s.c.whole():
	case <-s.gone:
	}
}

func (s *strand) Write(b []byte) (int, error) {
	s.pass()
	return s.Conn.Write(b)
}

func (s *strand) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.pass()
	return n, err
}

func (s *strand) Close() error {
	s.once.Do(func() { close(s.gone) })
	return s.Conn.Close()
}
