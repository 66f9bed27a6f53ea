package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// soakHere is this machine, as the guests of the rig see it on a network without faults.
const soakHere = "10.98.0.254:0"

// TestSoakNFS is TestSoak on real NFS: each daemon has a machine of its own in the rig
// that .ci/nfs/run drives, and the faults are those of the machines, their network and
// their server, in turn. The smarthost, the clients and the model are here.
func TestSoakNFS(t *testing.T) {
	if os.Getenv("SOAK_NFS_RIG") == "" {
		t.Skip("make soak-nfs runs two daemons on real NFS")
	}
	length, err := time.ParseDuration(os.Getenv("SOAK_NFS"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSoakNFS(t)
	posters := s.post()
	for k, end := 0, time.Now().Add(length); time.Now().Before(end); k++ {
		pace(time.Duration(1000+rand.IntN(3000)) * time.Millisecond)
		s.strikeNFS(k)
	}
	s.calm.Store(true)
	s.over.Store(true)
	posters.Wait()
	s.settle()
	s.check()
}

// newSoakNFS starts a daemon on each of the two clients.
func newSoakNFS(t *testing.T) *soak {
	s := &soak{t: t, lists: 3, blows: map[string]int{}, taken: map[string]string{}}
	var addr string
	s.sink, addr = newSinkAt(t, soakHere, queuetest.SinkConfig{Keep: queuetest.KeepCopies, Script: s.moody})
	c := config.Default()
	c.Var, c.Umask, c.Lock.LocalDir = "/nfs/share", "022", "/tmp/local"
	c.Lock.Lifetime, c.Lock.DeliveryLifetime, c.Lock.Slop = 6*time.Second, 6*time.Second, time.Second
	c.Run.Poll, c.Run.Heartbeat, c.Run.Drain = 500*time.Millisecond, 2*time.Second, 10*time.Second
	c.Smarthost.TLS, c.Smarthost.Address, c.Smarthost.Batch, c.Smarthost.Recipients = "none", addr, 3, 2
	c.Retry.First, c.Retry.Most = 2*time.Second, 5*time.Second
	c.Site.Owner, c.Log.Format = "postmaster@site.example", "json"
	for n := 1; n <= 2; n++ {
		c.Host = fmt.Sprint("c", n)
		c.LMTP.Listen = []string{fmt.Sprintf("10.98.0.%d:8024", 10+n)}
		s.runners = append(s.runners, &soakRunner{h: guest(t, n, c), guest: fmt.Sprint(n)})
	}
	s.runners[0].h.must("init")
	s.populate(s.runners[0].h)
	for _, r := range s.runners {
		r.start()
	}
	return s
}

// guest is the host on a client of the rig. The file that tells its daemon's process
// number is in the guest's memory.
func guest(t *testing.T, n int, c config.Config) *host {
	t.Helper()
	var text strings.Builder
	if err := config.Print(&text, c); err != nil {
		t.Fatal(err)
	}
	file := c.Host + ".yaml"
	if err := os.WriteFile(filepath.Join(os.Getenv("SOAK_NFS_DIR"), file), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return &host{t: t, conf: c, ls: func(dir string) []string { return serverFiles(t, dir) }, via: []string{os.Getenv("SOAK_NFS_RIG"),
		"run", fmt.Sprint(n), "-e", "QRUNNER_CONFIG=/host/" + file, "--", "sh", "-c",
		`[ "$1" != run ] || echo $$ >/tmp/daemon; exec /host/qrunner "$@"`, "sh"}}
}

// serverFiles lists files of the share where no cache can hide one. Some move meanwhile.
func serverFiles(t *testing.T, dir string) []string {
	t.Helper()
	out := rig(t, "run", "server", "-n", "-C", "/export/share", "--", "sh", "-c", `find "$1" ! -type d 2>/dev/null || true`, "sh", dir)
	return slices.DeleteFunc(strings.Split(out, "\n"), func(l string) bool { return l == "" })
}

// rig gives the rig an order.
func rig(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(os.Getenv("SOAK_NFS_RIG"), args...).Output()
	if err != nil {
		var why []byte
		if e, ok := err.(*exec.ExitError); ok {
			why = e.Stderr
		}
		t.Fatalf("nfsrig %v: %v: %s", args, err, why)
	}
	return string(out)
}
