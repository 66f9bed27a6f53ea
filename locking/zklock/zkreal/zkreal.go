// Package zkreal starts real ZooKeeper servers, those of the Debian package, on loopback
// ports for tests. They end with the test, or with the process.
package zkreal

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tick is the servers' tick; sessions may ask for 2 of them, and for LongSession at most.
const (
	Tick        = 500 * time.Millisecond
	LongSession = 40 * time.Second
)

// patience bounds waits for servers of a machine that is busy with other things.
const patience = 3 * time.Minute

// Ensemble is some servers on this machine.
type Ensemble struct {
	Members []*Member
}

// Need skips the test where ZooKeeper is not installed, or fails it where QRUNNER_NEED_PEERS
// says that all peers must be there.
func Need(t testing.TB) {
	t.Helper()
	_, jerr := exec.LookPath("java")
	_, zerr := os.Stat(strings.Split(classPath(), ":")[0])
	switch {
	case jerr == nil && zerr == nil:
	case os.Getenv("QRUNNER_NEED_PEERS") != "":
		t.Fatal("the Debian package zookeeper is not installed")
	default:
		t.Skip("the Debian package zookeeper is not installed")
	}
}

// classPath is where Debian has ZooKeeper.
func classPath() string {
	var jars []string
	for _, jar := range []string{
		"zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-nop", "netty-handler", "netty-common", "netty-buffer",
		"netty-transport", "metrics-core", "snappy-java", "commons-cli", "commons-io",
	} {
		jars = append(jars, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(jars, ":")
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

// Start starts n servers, with more flags for Java, and waits until all of them serve.
func Start(t testing.TB, n int, flags ...string) *Ensemble {
	Need(t)
	p := ports(t, 3*n)
	cfg := fmt.Sprintf("tickTime=%d\nmaxSessionTimeout=%d\n", Tick.Milliseconds(), LongSession.Milliseconds()) +
		"initLimit=60\nsyncLimit=20\nadmin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n"
	if n > 1 {
		for i := range n {
			cfg += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[3*i+1], p[3*i+2])
		}
	}
	e := &Ensemble{}
	for i := range n {
		m := &Member{Addr: fmt.Sprintf("127.0.0.1:%d", p[3*i]), dir: t.TempDir()}
		file := filepath.Join(m.dir, "zoo.cfg")
		text := cfg + fmt.Sprintf("dataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\n", m.dir, p[3*i])
		for name, data := range map[string]string{file: text, filepath.Join(m.dir, "myid"): strconv.Itoa(i + 1)} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m.args = append([]string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}, flags...)
		m.args = append(m.args, "-cp", classPath(), "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
		m.Start(t)
		e.Members = append(e.Members, m)
	}
	t.Cleanup(func() {
		for _, m := range e.Members {
			m.Kill()
		}
	})
	e.Wait(t)
	return e
}

// Wait waits until all servers serve.
func (e *Ensemble) Wait(t testing.TB) {
	t.Helper()
	Until(t, "the servers to serve", func() bool {
		for _, m := range e.Members {
			switch m.Mode() {
			case "leader", "follower", "standalone":
			default:
				return false
			}
		}
		return true
	})
}

// Addrs are the servers' addresses.
func (e *Ensemble) Addrs() []string {
	var out []string
	for _, m := range e.Members {
		out = append(out, m.Addr)
	}
	return out
}

// Leader is the server that leads; it waits for one.
func (e *Ensemble) Leader(t testing.TB) *Member {
	t.Helper()
	var lead *Member
	Until(t, "a leader", func() bool {
		for _, m := range e.Members {
			if mode := m.Mode(); mode == "leader" || mode == "standalone" {
				lead = m
			}
		}
		return lead != nil
	})
	return lead
}

// Total adds up a number that each server says after prefix in its answer to a word.
func (e *Ensemble) Total(word, prefix string) int {
	sum := 0
	for _, m := range e.Members {
		n, _ := strconv.Atoi(m.line(word, prefix))
		sum += n
	}
	return sum
}

// Until asks again and again for something that no event tells of.
func Until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// process is how servers are started: they die with us.
func process() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
