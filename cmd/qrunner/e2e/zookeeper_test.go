package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/locking/zklock/zkreal"
	"qrunner/queue/queuetest"
)

// long makes the tests with ZooKeeper do more rounds (make test-zk).
var long = os.Getenv("ZOOKEEPER_LONG") != ""

// onZooKeeper puts a site's locks on servers. Sessions outlive any load of the machine.
func onZooKeeper(e *zkreal.Ensemble, root string) func(*config.Config) {
	return func(c *config.Config) {
		c.Lock.Backend, c.Lock.Servers, c.Lock.Root = "zookeeper", e.Addrs(), root
		c.Lock.SessionTimeout, c.Lock.ConnectTimeout = zkreal.LongSession, time.Minute
	}
}

// TestZooKeeper has the locks on three real servers.
func TestZooKeeper(t *testing.T) {
	e := zkreal.Start(t, 3, "-Dzookeeper.forceSync=no")
	t.Run("Beside", func(t *testing.T) {
		for name, f := range map[string]func(*testing.T, *zkreal.Ensemble){
			"Stopped": zkStopped, "LockRun": zkLockRun, "Kazoo": zkKazoo, "Operate": zkOperate, "Denied": zkDenied,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f(t, e)
			})
		}
	})
	t.Run("Crowd", func(t *testing.T) { zkCrowd(t, e) })
}

// zkCrowd has two hosts work on 50 posts to one list while the leader dies and comes back
// and another server is paused.
func zkCrowd(t *testing.T, e *zkreal.Ensemble) {
	const list, posts, members = "ant@lists.example.com", 50, 20
	sink, addr := newSink(t, queuetest.SinkConfig{})
	a := newHost(t, "a", onZooKeeper(e, "/crowd"), func(c *config.Config) { c.Smarthost.Address = addr })
	b := a.with("b")
	a.list(list, members)
	da, db := a.start(), b.start()
	want := ids("crowd", posts)
	send := func(d *daemon, ids []string) {
		in := d.lmtp()
		for _, id := range ids {
			in.post(poster, message(poster, list, id), list)
		}
	}
	send(da, want[:15])
	lead := e.Leader(t)
	lead.Kill()
	send(db, want[15:30])
	lead.Start(t)
	e.Wait(t)
	for _, m := range e.Members {
		if m.Mode() == "follower" {
			m.Signal(t, syscall.SIGSTOP)
			send(da, want[30:])
			m.Signal(t, syscall.SIGCONT)
			break
		}
	}
	if err := sink.Wait(patient(t), posts*members); err != nil {
		t.Fatal(err)
	}
	a.idle()
	count(sink).once(t, want, memberNames(members))
	da.stop()
	db.stop()
	for _, d := range []*daemon{da, db} {
		if n, _ := d.locks()["grants"].(float64); n == 0 {
			t.Errorf("the locks of %s: %v", d.h.conf.Host, d.locks())
		}
		t.Logf("locks of %s: %v", d.h.conf.Host, d.locks())
	}
	handoversInOrder(t, a, list, posts)
}

// zkStopped stops a host that holds the list for longer than its session lives. Another
// goes on, and what the first does when it wakes up changes nothing.
func zkStopped(t *testing.T, e *zkreal.Ensemble) {
	const list, posts, members, session = "ant@lists.example.com", 80, 3, 8 * time.Second
	sink, addr := newSink(t, queuetest.SinkConfig{})
	b := newHost(t, "b", onZooKeeper(e, "/stopped"), func(c *config.Config) { c.Smarthost.Address = addr })
	a := b.with("a", func(c *config.Config) {
		c.Smarthost.Address, c.Lock.SessionTimeout = "127.0.0.1:1", session // it judges, and delivers nothing
		c.Run.Slice = time.Hour                                             // and would go on where it was stopped
	})
	b.list(list, members)
	want := ids("stopped", posts)
	for _, id := range want {
		b.deliver(list, id)
	}
	da := a.launch()
	left := func() int { return len(b.files("queue/in")) }
	until(t, "the host a to be at work", func() bool { return left() < posts })
	da.signal(syscall.SIGSTOP)
	start := time.Now()
	midway := b.holder(list) == "a" && left() > 0
	db := b.start()
	until(t, "the host b to have the list", func() bool { return b.holder(list) != "a" })
	t.Logf("taken over after %v; session timeout %v", time.Since(start).Round(10*time.Millisecond), session)
	if err := sink.Wait(patient(t), posts*members); err != nil {
		t.Fatal(err)
	}
	da.signal(syscall.SIGCONT)
	if midway { // nearly always
		t.Logf("a says: %v", da.wait("lock was lost"))
		t.Logf("and: %v", da.wait("list taken over by another host"))
	}
	b.idle()
	count(sink).once(t, want, memberNames(members))
	da.stop()
	db.stop()
	handoversInOrder(t, b, list, posts)
}

func (h *host) deliver(list, id string) {
	h.t.Helper()
	if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
		h.t.Fatal(r)
	}
}

// holder is the host that has a list's lock.
func (h *host) holder(list string) string {
	h.t.Helper()
	var v struct{ Holder struct{ Host string } }
	h.query(&v, "lock", "why", list)
	return v.Holder.Host
}

// zkOperate looks at locks and takes one, and tries the service out.
func zkOperate(t *testing.T, e *zkreal.Ensemble) {
	const list = "ant@lists.example.com"
	h := newHost(t, "a", onZooKeeper(e, "/operate"))
	h.list(list, 1)
	if out := h.must("lock", "why", list); !strings.Contains(out, "nobody holds it") {
		t.Errorf("lock why of a free lock: %s", out)
	}
	dir := t.TempDir()
	done := make(chan result, 2)
	for _, name := range []string{"one", "two"} {
		cmd := h.command(zkRun(h, e, "--shared", "/operate/"+list, "--", "sh", "-c", "touch "+dir+"/"+name+"; sleep 600")...)
		go func() { done <- finish(t, cmd, "") }()
		until(t, "the lock to be held", func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
	}
	if out := h.must("lock", "why", list); !strings.Contains(out, "shared") || !strings.Contains(out, "beside it") {
		t.Errorf("lock why of readers: %s", out)
	}
	if out := h.must("lock", "ls"); !strings.Contains(out, list) || !strings.Contains(out, "held") {
		t.Errorf("lock ls: %s", out)
	}
	if out := h.must("lock", "why", list); !strings.Contains(out, "sleep 600") || !strings.Contains(out, "of session 0x") {
		t.Errorf("lock why: %s", out)
	}
	if r := h.run("", "lock", "break", list); r.code == 0 || !strings.Contains(r.err, "nothing to break") {
		t.Errorf("lock break: %v", r)
	}
	if out := h.must("lock", "steal", "--yes", list); !strings.Contains(out, "is free; it was held by") {
		t.Errorf("lock steal: %s", out)
	}
	for range 2 {
		if r := <-done; r.code != 74 || !strings.Contains(r.err, "was lost while the command ran") {
			t.Errorf("a command whose lock was stolen: %v", r)
		}
	}
	if out := h.must("list", "log", list); !strings.Contains(out, "lock steal") {
		t.Errorf("the list's log does not tell of the steal: %s", out)
	}
	out := h.must("doctor")
	for _, want := range []string{"zookeeper server " + e.Addrs()[0], "zookeeper session", "which the servers allow", "zookeeper rights", "set lock.auth_file", "zookeeper latency", "taken, verified and given back"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	short := h.with("a", func(c *config.Config) { c.Lock.SessionTimeout = 10 * time.Minute })
	if r := short.run("", "doctor"); r.code != 1 || !strings.Contains(r.out, "which make it 40s") || !strings.Contains(r.out, "remedy: set lock.session_timeout") {
		t.Errorf("doctor with a session timeout out of bounds: %v", r)
	}
	if r := short.run("", "run"); r.code != 78 || !strings.Contains(r.err, "session timeout 10m0s: outside the servers' bounds") {
		t.Errorf("run with a session timeout out of bounds: %v", r)
	}
	if r := short.run(message(poster, list, "x@posts.example"), "deliver", "-f", poster, list); r.code != 0 {
		t.Errorf("deliver with a session timeout out of bounds: %v", r)
	}
}

// zkDenied: users without rights are told so, and mail is taken in all the same.
func zkDenied(t *testing.T, e *zkreal.Ensemble) {
	const list = "ant@lists.example.com"
	auth := func(text string) string {
		name := filepath.Join(t.TempDir(), "auth")
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	h := newHost(t, "a", onZooKeeper(e, "/denied/locks"), func(c *config.Config) { c.Lock.AuthFile = auth("qrunner:secret") })
	h.list(list, 1)
	if out := h.must("doctor"); !strings.Contains(out, "/denied/locks is for the given user") {
		t.Errorf("doctor: %s", out)
	}
	for name, file := range map[string]string{"wrong password": auth("qrunner:wrong"), "nobody": ""} {
		bad := h.with("a", func(c *config.Config) { c.Lock.AuthFile = file })
		for _, args := range [][]string{{"run"}, {"member", "add", list, "x@members.example"}, {"lock", "ls"}} {
			if r := bad.run("", args...); r.code != 78 || !strings.Contains(r.err, "root /denied/locks: no permission for the given user") || strings.Contains(r.err, "wrong") {
				t.Errorf("%s: %v: %v", name, args, r)
			}
		}
		if r := bad.run("", "doctor"); r.code != 1 || !strings.Contains(r.out, "remedy: look at lock.auth_file") {
			t.Errorf("%s: doctor: %v", name, r)
		}
		run := []string{"lock", "run", "--zookeeper", e.Addrs()[0], "--session-timeout", "40s"}
		if file != "" {
			run = append(run, "--auth-file", file)
		}
		if r := bad.run("", append(run, "/denied/locks/x", "--", "true")...); r.code != 77 {
			t.Errorf("%s: lock run: %v, want 77", name, r)
		}
		bad.deliver(list, strings.ReplaceAll(name, " ", "")+"@posts.example")
	}
	if r := h.with("a", func(c *config.Config) { c.Lock.AuthFile = auth("secret") }).run("", "lock", "ls"); r.code == 0 || !strings.Contains(r.err, "want user:password") {
		t.Errorf("a line without a user: %v", r)
	}
	if r := h.with("a", func(c *config.Config) { c.Lock.AuthFile = "/nonexistent" }).run("", "lock", "ls"); r.code == 0 || !strings.Contains(r.err, "lock.auth_file") {
		t.Errorf("no file: %v", r)
	}
}

// TestZooKeeperAway: without servers mail is taken in and waits, and goes on when they come.
func TestZooKeeperAway(t *testing.T) {
	t.Parallel()
	const list = "ant@lists.example.com"
	e := zkreal.Start(t, 1, "-Dzookeeper.forceSync=no")
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", onZooKeeper(e, "/away"), func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, 3)
	e.Members[0].Kill()
	h = h.with("a", func(c *config.Config) { c.Lock.ConnectTimeout = 2 * time.Second })
	if r := h.run("", "member", "add", list, "x@members.example"); r.code != 75 || !strings.Contains(r.err, "connect to "+e.Addrs()[0]) {
		t.Errorf("member add: %v, want 75", r)
	}
	args := []string{"lock", "run", "--zookeeper", e.Addrs()[0], "--connect-timeout", "1s", "/away/x", "--", "true"}
	if r := h.run("", args...); r.code != 69 || !strings.Contains(r.err, "no answer in time") || !strings.Contains(r.err, "connect to "+e.Addrs()[0]) {
		t.Errorf("lock run: %v, want 69", r)
	}
	if r := h.run("", "doctor"); r.code != 1 || !strings.Contains(r.out, "remedy: look at lock.servers") {
		t.Errorf("doctor: %v", r)
	}
	want := ids("away", 2)
	h.deliver(list, want[0])
	d := h.start()
	if l := d.logged("no lock service: mail is taken in, and waits"); len(l) != 1 || !strings.Contains(l[0].text("err"), "no answer in time") {
		t.Errorf("the log says %v", l)
	}
	in := d.lmtp()
	in.post(poster, message(poster, list, want[1]), list)
	e.Members[0].Start(t)
	if err := sink.Wait(patient(t), 6); err != nil {
		t.Fatal(err)
	}
	h.idle()
	count(sink).once(t, want, memberNames(3))
	d.stop()
}

func zkRun(h *host, e *zkreal.Ensemble, args ...string) []string {
	return append([]string{"lock", "run", "--zookeeper", strings.Join(e.Addrs(), ","), "--session-timeout", "40s", "--connect-timeout", "1m"}, args...)
}

// zkLockRun needs no configuration.
func zkLockRun(t *testing.T, e *zkreal.Ensemble) {
	h := &host{t: t, file: "/nonexistent"}
	dir := t.TempDir()
	hold := func(name string, flags ...string) (end func()) {
		words := append(zkRun(h, e, flags...), "/run/box", "--", "sh", "-c", fmt.Sprintf("touch %[1]s/%[2]s; until test -e %[1]s/%[2]s.end; do sleep 0.1; done", dir, name))
		done := make(chan result, 1)
		go func() { done <- finish(t, h.command(words...), "") }()
		until(t, name+" to hold the lock", func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil })
		return func() {
			if err := os.WriteFile(filepath.Join(dir, name+".end"), nil, 0o600); err != nil {
				t.Error(err)
			}
			if r := <-done; r.code != 0 {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
	status := func(want int, flags ...string) {
		t.Helper()
		if r := h.run("", append(zkRun(h, e, flags...), "/run/box", "--", "sh", "-c", "exit 7")...); r.code != want {
			t.Errorf("%v: %v, want status %d", flags, r, want)
		}
	}
	status(7)
	one := hold("reader1", "--shared")
	two := hold("reader2", "--shared")
	status(7, "--shared", "--try")
	status(75, "--try")
	status(75, "--wait", "200ms")
	one()
	two()
	writer := hold("writer")
	status(75, "--shared", "--try")
	writer()
	status(7, "--wait", "1m")
	for _, bad := range [][]string{{"box"}, {"/run/"}, {"--naming", "curator", "/run/box"}} {
		if r := h.run("", append(zkRun(h, e, bad...), "--", "true")...); r.code != 64 {
			t.Errorf("%v: %v, want 64", bad, r)
		}
	}
	short := []string{"lock", "run", "--zookeeper", e.Addrs()[0], "--session-timeout", "500ms", "/run/box", "--", "true"}
	if r := h.run("", short...); r.code != 78 || !strings.Contains(r.err, "outside the servers' bounds, which make it 1s") {
		t.Errorf("a session timeout that is too short: %v, want 78", r)
	}
}
