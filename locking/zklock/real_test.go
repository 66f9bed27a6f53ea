package zklock

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"qrunner/locking"
	"qrunner/locking/locktest"
	"qrunner/locking/zklock/zkreal"
)

// long makes TestEnsemble run what takes minutes too (make test-zk).
var long = os.Getenv("ZOOKEEPER_LONG") != ""

type realTest struct {
	name string
	f    func(*testing.T, ensemble)
}

// TestEnsemble runs all tests that need real servers, three of them: those that count what
// is at the servers, those that do not mind each other, and those that make trouble.
func TestEnsemble(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	e := startEnsemble(t, 3, "-Dzookeeper.forceSync=no", "-Dreadonlymode.enabled=true")
	t.Run("Leaks", func(t *testing.T) { realLeaks(t, e) })
	t.Run("Beside", func(t *testing.T) {
		for _, test := range []realTest{
			{"Conformance", realConformance}, {"Mortal", realMortal}, {"Check", realCheck}, {"Rights", realRights},
			{"Operate", realOperate}, {"StoppedClient", realStoppedClient}, {"Kazoo", realKazoo},
			{"KazooReaders", realKazooReaders}, {"TLS", realTLS},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				test.f(t, e)
			})
		}
	})
	t.Run("KilledLeader", func(t *testing.T) { realKilledLeader(t, e) })
	if long {
		t.Run("PausedServer", func(t *testing.T) { realPausedServer(t, e) })
		t.Run("ReadOnly", func(t *testing.T) { realReadOnly(t, e) })
	}
}

// mortal are the checks that wait for a session to end.
func mortal(name string) bool { return name == "LossFirst" || name == "Crash" || name == "CrashByTry" }

// tooLong are the checks that need half a minute of a session's life.
func tooLong(name string) bool { return name == "Refresh" && !long }

func conform(t *testing.T, config func(root string, n int) Config, only func(string) bool) {
	locktest.Run(t, locktest.Setup{
		New: func(t *testing.T) locktest.Open {
			at := map[int]*cable{}
			return func(host int) locking.Locker {
				if at[host] == nil {
					at[host] = openCable(t, config("/conformance/"+path.Base(t.Name()), host))
				}
				return at[host]
			}
		},
		Lifetime: realTimeout, Takeover: 2 * time.Minute, Poll: 200 * time.Millisecond, Shared: true, Only: only, Parallel: true,
	})
}

func realConformance(t *testing.T, e ensemble) {
	conform(t, e.config, func(name string) bool { return !mortal(name) && !tooLong(name) })
}

func realMortal(t *testing.T, e ensemble) { conform(t, e.mortal, mortal) }

// realCheck is what we believe of the transaction with a check only.
func realCheck(t *testing.T, e ensemble) {
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
	before := e.Leader(t).Zxid()
	for range 5 {
		if err := le.Verify(ctx); err != nil {
			t.Error(err)
		}
	}
	if after := e.Leader(t).Zxid(); after == before {
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

func realRights(t *testing.T, e ensemble) {
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
	short.SessionTimeout = zkreal.Tick
	if _, err := Open(context.Background(), short); err == nil || !strings.Contains(err.Error(), "bounds, which make it 1s") {
		t.Errorf("session timeout of one tick: %v", err)
	}
}

func realOperate(t *testing.T, e ensemble) {
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
	case <-time.After(time.Minute):
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
func realLeaks(t *testing.T, e ensemble) {
	before := goroutines()
	ctx := context.Background()
	zkreal.Until(t, "the other tests' watches to go", func() bool { return e.Total("wchs", "Total watches:") == 0 })
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
	zkreal.Until(t, "watches to go", func() bool { return e.Total("wchs", "Total watches:") == 0 })
	sessions := func() (n int) {
		for _, m := range e.Members {
			n += strings.Count(m.Ask("cons"), "sid=")
		}
		return n
	}
	if n := sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	_ = a.Close()
	_ = b.Close()
	zkreal.Until(t, "sessions to go", func() bool { return sessions() == 0 })
	zkreal.Until(t, "goroutines to go", func() bool { return goroutines() <= before })
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
func realPausedServer(t *testing.T, e ensemble) {
	churn(t, e, "/paused", func(func() int) {
		lead := e.Leader(t)
		for _, m := range e.Members {
			if m != lead {
				m.Signal(t, syscall.SIGSTOP)
				time.Sleep(realTimeout)
				m.Signal(t, syscall.SIGCONT)
				break
			}
		}
		lead.Signal(t, syscall.SIGSTOP)
		time.Sleep(realTimeout + realTimeout/2)
		lead.Signal(t, syscall.SIGCONT)
	})
}

func realKilledLeader(t *testing.T, e ensemble) {
	churn(t, e, "/killed", func(grants func() int) {
		lead := e.Leader(t)
		lead.Kill()
		start, before := time.Now(), grants()
		zkreal.Until(t, "grants without the leader", func() bool { return grants() > before+20 })
		t.Logf("20 grants, %v after the leader's death", time.Since(start).Round(time.Millisecond))
		lead.Start(t)
	})
}

// churn uses a lock from several hosts while trouble is made, and checks that no two
// hold it who must not, that it goes on afterwards, and that nothing is left.
func churn(t *testing.T, e ensemble, root string, trouble func(grants func() int)) {
	m := &monitor{TB: t, held: map[*Lease]locking.Mode{}}
	var wg sync.WaitGroup
	var lockers []*Locker
	end, over := context.WithCancel(context.Background())
	for h := range 4 {
		l := open(t, e.mortal(root, h))
		lockers = append(lockers, l)
		wg.Go(func() { m.use(end, l, rand.New(rand.NewPCG(1, uint64(h)))) })
	}
	trouble(m.grants)
	e.Wait(t)
	before := m.grants()
	zkreal.Until(t, "grants after the trouble", func() bool { return m.grants() > before+20 })
	over()
	wg.Wait()
	t.Logf("%d grants, %d lost while held", m.grants(), m.lost)
	zkreal.Until(t, "the nodes to go", func() bool {
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
func realReadOnly(t *testing.T, e ensemble) {
	for _, m := range e.Members[1:] {
		m.Signal(t, syscall.SIGSTOP)
		defer m.Signal(t, syscall.SIGCONT)
	}
	zkreal.Until(t, "a server to become read-only", func() bool { return e.Members[0].Mode() == "read-only" })
	cfg := e.config("/readonly", 0)
	cfg.Servers, cfg.ConnectTimeout = cfg.Servers[:1], 3*time.Second
	start := time.Now()
	_, err := Open(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "no answer in time") || !strings.Contains(err.Error(), "that may write") {
		t.Errorf("got %v", err)
	}
	t.Logf("after %v", time.Since(start).Round(time.Millisecond))
}
