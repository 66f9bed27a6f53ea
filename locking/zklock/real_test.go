package zklock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"qrunner/locking"
	"qrunner/locking/locktest"
)

// TestEnsemble runs all tests that need real servers, three of them.
func TestEnsemble(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	e := startEnsemble(t, 3, "-Dzookeeper.forceSync=no", "-Dreadonlymode.enabled=true")
	for _, test := range []struct {
		name string
		f    func(*testing.T, *ensemble)
	}{
		{"Conformance", realConformance}, {"Check", realCheck}, {"Rights", realRights}, {"Operate", realOperate},
		{"Leaks", realLeaks}, {"StoppedClient", realStoppedClient}, {"Kazoo", realKazoo}, {"KazooReaders", realKazooReaders},
		{"TLS", realTLS}, {"PausedServer", realPausedServer}, {"KilledLeader", realKilledLeader}, {"ReadOnly", realReadOnly},
	} {
		t.Run(test.name, func(t *testing.T) { test.f(t, e) })
	}
}

func realConformance(t *testing.T, e *ensemble) {
	n := 0
	locktest.Run(t, locktest.Setup{
		New: func(t *testing.T) locktest.Open {
			n++
			at := map[int]*cable{}
			root := fmt.Sprintf("/conformance/%d", n)
			return func(host int) locking.Locker {
				if at[host] == nil {
					at[host] = openCable(t, e.config(root, host))
				}
				return at[host]
			}
		},
		Lifetime: realTimeout, Takeover: realTimeout + 2*time.Second, Poll: 200 * time.Millisecond, Shared: true,
	})
}

// realCheck is what we believe of the transaction with a check only.
func realCheck(t *testing.T, e *ensemble) {
	l := open(t, e.config("/check", 0))
	ctx := context.Background()
	if _, err := call(ctx, l.s, check("/check")); err != nil {
		t.Errorf("node that is there: %v", err)
	}
	if _, err := call(ctx, l.s, check("/check/nothing")); !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("node that is not there: %v, want ErrNoNode", err)
	}
	le, err := l.Lock(ctx, listKey, locking.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	wakes := l.Stats().Wakes
	gone, err := l.watches.wait(ctx, l.s, le.(*Lease).path())
	if err != nil {
		t.Fatal(err)
	}
	before := zxid(e.leader(t))
	for range 5 {
		if err := le.Verify(ctx); err != nil {
			t.Error(err)
		}
	}
	if after := zxid(e.leader(t)); after == before {
		t.Errorf("five checks and no change of the ensemble's number %s", after)
	}
	select {
	case <-gone:
		t.Error("a check wakes who watches")
	default:
	}
	if err := le.Unlock(ctx); err != nil {
		t.Error(err)
	}
	<-gone
	if l.Stats().Wakes != wakes {
		t.Error("somebody was woken")
	}
}

func zxid(m *member) string {
	for line := range strings.Lines(m.ask("srvr")) {
		if v, ok := strings.CutPrefix(line, "Zxid: "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func realRights(t *testing.T, e *ensemble) {
	cfg := e.config("/secure/locks", 0)
	cfg.Digest = "qrunner:secret"
	l := open(t, cfg)
	le, err := l.Lock(context.Background(), listKey, locking.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	l.s.mu.Lock()
	w := l.s.wire
	l.s.mu.Unlock()
	_ = w.Close() // it authenticates again
	if err := le.Verify(context.Background()); err != nil {
		t.Errorf("after a reconnection: %v", err)
	}
	for label, digest := range map[string]string{"wrong password": "qrunner:wrong", "other user": "u:p", "nobody": ""} {
		bad := cfg
		bad.Digest = digest
		if _, err := Open(context.Background(), bad); !errors.Is(err, zk.ErrNoAuth) || !strings.Contains(err.Error(), "no permission") {
			t.Errorf("%s: %v", label, err)
		}
		bad.Root += "/below"
		if _, err := Open(context.Background(), bad); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("%s, root to be made: %v", label, err)
		}
	}
	for _, f := range Probe(context.Background(), cfg) {
		if t.Logf("%s: %s: %s", f.Level, f.What, f.Detail); f.Level == LevelFail || f.What == "rights" && f.Level != LevelOK {
			t.Errorf("probe: %+v", f)
		}
	}
	if err := le.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
	short := e.config("/locks", 0)
	short.SessionTimeout = realTick
	if _, err := Open(context.Background(), short); err == nil || !strings.Contains(err.Error(), "bounds make it 1s") {
		t.Errorf("session timeout of one tick: %v", err)
	}
}

func realOperate(t *testing.T, e *ensemble) {
	ctx := context.Background()
	a, b := open(t, e.config("/operate", 0)), open(t, e.config("/operate", 1))
	old, err := a.Lock(ctx, "out/x/0-9", locking.Exclusive, locking.WithNote("deliver"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Inspect(ctx, "out/x/0-9")
	if err != nil || r.Holder.Host != "h0" || r.Holder.Note != "deliver" || time.Since(r.Holder.Since).Abs() > time.Minute {
		t.Errorf("%+v %v", r, err)
	}
	if keys, err := b.List(ctx); err != nil || len(keys) != 1 || keys[0] != "out/x/0-9" {
		t.Errorf("%q %v", keys, err)
	}
	le, _, err := b.Steal(ctx, "out/x/0-9")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-old.Context().Done():
	case <-time.After(realTimeout):
		t.Error("the holder was not told")
	}
	if err := old.Unlock(ctx); !errors.Is(err, locking.ErrLost) {
		t.Errorf("unlock: %v", err)
	}
	if err := le.Unlock(ctx); err != nil {
		t.Error(err)
	}
}

// realLeaks looks for what waits and errors leave behind, here and at the servers.
func realLeaks(t *testing.T, e *ensemble) {
	before := goroutines()
	ctx := context.Background()
	until(t, 20*time.Second, "the other tests' watches to go", func() bool { return e.total("wchs", "Total watches:") == 0 })
	a, err := Open(ctx, e.config("/leaks", 0))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(ctx, e.config("/leaks", 1))
	if err != nil {
		t.Fatal(err)
	}
	le, err := a.Lock(ctx, listKey, locking.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			ctx, stop := context.WithTimeout(ctx, time.Duration(rand.IntN(400))*time.Millisecond)
			defer stop()
			if _, err := b.Lock(ctx, listKey, locking.Mode(i%2)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	names, err := persist(ctx, a.s, children("/leaks/"+string(listKey)))
	if err != nil || len(names) != 1 {
		t.Errorf("nodes after 40 waits were given up: %q %v", names, err)
	}
	if err := le.Unlock(ctx); err != nil {
		t.Error(err)
	}
	until(t, 10*time.Second, "watches to go", func() bool { return e.total("wchs", "Total watches:") == 0 })
	sessions := func() (n int) {
		for _, m := range e.members {
			n += strings.Count(m.ask("cons"), "sid=")
		}
		return n
	}
	if n := sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	_ = a.Close()
	_ = b.Close()
	until(t, 10*time.Second, "sessions to go", func() bool { return sessions() == 0 })
	until(t, 10*time.Second, "goroutines to go", func() bool { return goroutines() <= before })
}

// goroutines counts those of this package and of the client library.
func goroutines() int {
	buf := make([]byte, 1<<22)
	n := 0
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "go-zookeeper/zk.") || strings.Contains(stack, "zklock.(*") {
			n++
		}
	}
	return n
}

// realPausedServer stops a follower, and then the leader, while locks are used.
func realPausedServer(t *testing.T, e *ensemble) {
	churn(t, e, "/paused", func() {
		lead := e.leader(t)
		for _, m := range e.members {
			if m != lead {
				m.signal(t, syscall.SIGSTOP)
				time.Sleep(realTimeout)
				m.signal(t, syscall.SIGCONT)
				break
			}
		}
		lead.signal(t, syscall.SIGSTOP)
		time.Sleep(realTimeout + realTimeout/2)
		lead.signal(t, syscall.SIGCONT)
	})
}

func realKilledLeader(t *testing.T, e *ensemble) {
	churn(t, e, "/killed", func() {
		lead := e.leader(t)
		lead.kill()
		time.Sleep(realTimeout)
		lead.start(t)
	})
}

// churn uses a lock from several hosts while trouble is made, and checks that no two
// hold it who must not, that it goes on afterwards, and that nothing is left.
func churn(t *testing.T, e *ensemble, root string, trouble func()) {
	m := &monitor{TB: t, held: map[*Lease]locking.Mode{}}
	var wg sync.WaitGroup
	var lockers []*Locker
	end, over := context.WithCancel(context.Background())
	for h := range 4 {
		l := open(t, e.config(root, h))
		lockers = append(lockers, l)
		wg.Go(func() { m.use(end, l, rand.New(rand.NewPCG(1, uint64(h)))) })
	}
	trouble()
	e.wait(t)
	before := m.grants()
	until(t, 3*realTimeout, "grants after the trouble", func() bool { return m.grants() > before+20 })
	over()
	wg.Wait()
	t.Logf("%d grants, %d lost while held", m.grants(), m.lost)
	until(t, 2*realTimeout, "the nodes to go", func() bool {
		names, err := persist(context.Background(), lockers[0].s, children(root+"/"+string(listKey)))
		return err == nil && len(names) == 0 || errors.Is(err, zk.ErrNoNode)
	})
}

func (m *monitor) grants() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.n
}

// use takes and gives locks until ctx ends.
func (m *monitor) use(ctx context.Context, l *Locker, r *rand.Rand) {
	for ctx.Err() == nil {
		mode := locking.Mode(r.IntN(2))
		got, err := l.Lock(ctx, listKey, mode)
		if err != nil {
			continue
		}
		le := got.(*Lease)
		m.enter(le, mode)
		sleep(le.Context(), time.Duration(r.IntN(50))*time.Millisecond)
		m.leave(le)
		_ = le.Unlock(ctx)
	}
}

// realReadOnly leaves one server without a majority. It takes no sessions that write, and
// we ask for no others.
func realReadOnly(t *testing.T, e *ensemble) {
	for _, m := range e.members[1:] {
		m.signal(t, syscall.SIGSTOP)
		defer m.signal(t, syscall.SIGCONT)
	}
	until(t, 60*time.Second, "a server to become read-only", func() bool { return e.members[0].mode() == "read-only" })
	cfg := e.config("/readonly", 0)
	cfg.Servers, cfg.ConnectTimeout = cfg.Servers[:1], 3*time.Second
	start := time.Now()
	_, err := Open(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "no answer in time") || !strings.Contains(err.Error(), "that may write") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > cfg.ConnectTimeout+5*time.Second {
		t.Errorf("after %v", d)
	}
}
