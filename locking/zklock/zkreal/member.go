package zkreal

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Member is one server.
type Member struct {
	Addr string // where clients connect
	dir  string
	args []string
	cmd  *exec.Cmd
}

// Start starts a server, or starts it again after Kill. It does not wait until it serves.
func (m *Member) Start(t testing.TB) {
	t.Helper()
	m.cmd = exec.Command("java", m.args...)
	m.cmd.SysProcAttr = process()
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

// Kill ends a server at once, as a crash would.
func (m *Member) Kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// Signal sends a signal: SIGSTOP and SIGCONT pause a server.
func (m *Member) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Ask sends a four-letter word; the answer is empty if there is none within some seconds.
func (m *Member) Ask(word string) string {
	conn, err := net.DialTimeout("tcp", m.Addr, time.Second)
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

// Mode is "leader", "follower", "standalone", "read-only", or "" for none of them.
func (m *Member) Mode() string { return m.line("srvr", "Mode: ") }

// Zxid is the number of the last change that a server knows of.
func (m *Member) Zxid() string { return m.line("srvr", "Zxid: ") }

// line is what stands after prefix in the answer to a word.
func (m *Member) line(word, prefix string) string {
	for line := range strings.Lines(m.Ask(word)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
