package zklock

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking"
	"qrunner/locking/zklock/zktest"
)

// bubble runs a test on an ensemble in memory.
func bubble(t *testing.T, cfg zktest.Config, f func(w *world)) {
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, cfg, nil)) })
}

// result is what a Lock in the background came to.
type result struct {
	le  *Lease
	err error
}

// lockLater starts a Lock and lets it go as far as it can.
func (w *world) lockLater(ctx context.Context, n int, mode locking.Mode) <-chan result {
	l := w.host(n)
	out := make(chan result, 1)
	go func() {
		le, err := l.Lock(ctx, listKey, mode)
		if err != nil {
			out <- result{err: err}
			return
		}
		out <- result{le: le.(*Lease)}
	}()
	synctest.Wait()
	return out
}

// got waits for a lease that must come within d.
func (w *world) got(out <-chan result, d time.Duration) *Lease {
	w.Helper()
	select {
	case r := <-out:
		if r.err != nil {
			w.Fatal(r.err)
		}
		return r.le
	case <-time.After(d):
		w.Fatalf("no lock after %v; nodes %q", d, w.nodes())
		return nil
	}
}

func isContender(op string) func(zktest.Request) bool {
	return func(r zktest.Request) bool { return r.Op == op && strings.HasPrefix(r.Path, listDir) }
}

func TestLostAnswers(t *testing.T) {
	for label, test := range map[string]struct {
		op    string
		fate  zktest.Fate
		found int64
	}{
		"create done":      {"create", zktest.Fate{LoseReply: true}, 1},
		"create not done":  {"create", zktest.Fate{Lose: true}, 0},
		"list":             {"getChildren2", zktest.Fate{LoseReply: true}, 0},
		"delete done":      {"delete", zktest.Fate{LoseReply: true}, 0},
		"delete not done":  {"delete", zktest.Fate{Lose: true}, 0},
		"container":        {"createContainer", zktest.Fate{LoseReply: true}, 0},
		"watch, own":       {"getData", zktest.Fate{LoseReply: true}, 0},
		"no room, retried": {"create", zktest.Fate{Code: zktest.CodeNoNode}, 0},
	} {
		t.Run(label, func(t *testing.T) {
			bubble(t, zktest.Config{Servers: 3}, func(w *world) {
				if w.host(0); test.op != "createContainer" {
					w.unlock(w.lock(0))
				}
				hit := w.ens.Once(isContender(test.op), test.fate)
				le := w.lock(0)
				if n := w.nodes(); len(n) != 1 || n[0] != le.name {
					t.Errorf("nodes %q, lease %s", n, le.name)
				}
				time.Sleep(time.Second)
				w.unlock(le)
				w.clean()
				<-hit
				if n := w.host(0).Stats().LostReplies; n != test.found {
					t.Errorf("%d lost answers were noticed, want %d", n, test.found)
				}
				w.unlock(w.lock(1))
			})
		})
	}
}

// A release whose answer was lost is done again; it must not touch what came after.
func TestReleaseAgainHarmsNobody(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		w.ens.Once(isContender("delete"), zktest.Fate{LoseReply: true})
		w.unlock(le)
		second := w.got(next, time.Second)
		if err := second.Verify(context.Background()); err != nil {
			t.Error(err)
		}
		w.unlock(second)
		w.clean()
	})
}

func TestSessionExpiresWhileWaiting(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		before := w.nodes()
		w.ens.Expire(w.host(1).s.conn.SessionID())
		time.Sleep(3 * time.Second)
		if n := w.nodes(); len(n) != 2 || slices.Equal(n, before) {
			t.Errorf("nodes after the waiter's session ended: %q, before %q", n, before)
		}
		w.unlock(le)
		second := w.got(next, time.Second)
		if second.session != w.host(1).s.conn.SessionID() {
			t.Error("a lease of a dead session")
		}
		w.unlock(second)
		w.clean()
	})
}

func TestSessionExpiresWhileHeld(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		w.ens.Expire(le.session)
		second := w.got(next, time.Second)
		select {
		case <-le.Context().Done():
		case <-time.After(3 * time.Second):
			t.Fatal("the holder was not told")
		}
		if err := context.Cause(le.Context()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("cause %v", err)
		}
		if err := le.Unlock(context.Background()); !errors.Is(err, locking.ErrLost) {
			t.Errorf("unlock: %v, want ErrLost", err)
		}
		if err := second.Verify(context.Background()); err != nil {
			t.Error(err)
		}
		third := w.lockLater(context.Background(), 0, locking.Exclusive) // in a new session
		w.unlock(second)
		w.unlock(w.got(third, time.Second))
		w.clean()
		if s := w.host(0).Stats(); s.Losses != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// The session ends in the Fencer: the grant is not handed out, and comes later, with a
// larger token.
func TestSessionExpiresInFence(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		l := w.host(0)
		n := locking.Token(0)
		le := w.lock(0, locking.WithFencer(fenceFunc(func(context.Context) (locking.Token, error) {
			if n++; n == 1 {
				w.ens.Expire(l.s.conn.SessionID())
				time.Sleep(2 * time.Second)
			}
			return n, nil
		})))
		if le.Token() != 2 {
			t.Errorf("token %d, want that of the second fence", le.Token())
		}
		w.unlock(le)
		w.clean()
	})
}

type fenceFunc func(context.Context) (locking.Token, error)

func (f fenceFunc) Fence(ctx context.Context) (locking.Token, error) { return f(ctx) }

// A node with our random bits that belongs to another session is not ours.
func TestNodeOfDeadSessionIsNotAdopted(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		l := w.host(0)
		w.unlock(w.lock(0))
		a, err := l.attempt(listKey, locking.Exclusive, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.guid, a.session = guidA, l.s.conn.SessionID()
		w.ens.Create(listDir+"/"+guidA+"-x-0000000009", nil, 99)
		if again, err := a.findOnce(context.Background()); !again || err != nil || a.own.name != "" {
			t.Errorf("again %v, err %v, own %+v", again, err, a.own)
		}
		a.session-- // and ours is a later one
		if again, err := a.findOnce(context.Background()); !again || err != nil || a.own.name != "" {
			t.Errorf("later session: again %v, err %v, own %+v", again, err, a.own)
		}
	})
}

// The create is done, its answer is lost, the session ends, and the next server still
// shows the node.
func TestDeadNodeSeenByLaggingServer(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		l := w.host(0)
		w.unlock(w.lock(0))
		w.ens.Lag(1, true)
		id := l.s.conn.SessionID()
		hold := make(chan struct{})
		w.ens.Hook(func(r zktest.Request) zktest.Fate {
			switch {
			case r.Session != id:
			case isContender("create")(r):
				return zktest.Fate{LoseReply: true}
			case r.Op == "multi": // with which the node is looked for
				return zktest.Fate{Wait: hold, Lose: true}
			}
			return zktest.Fate{}
		})
		out := w.lockLater(context.Background(), 0, locking.Exclusive)
		if n := w.nodes(); len(n) != 1 {
			t.Errorf("nodes %q, want the one whose answer was lost", n)
		}
		w.ens.Expire(id)
		close(hold)
		le := w.got(out, 5*time.Second)
		if le.session == id || le.session != l.s.conn.SessionID() {
			t.Errorf("lease of session %d, was %d", le.session, id)
		}
		w.unlock(le)
		w.clean()
	})
}

func TestNumbersWrap(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		w.ens.SetSequence(listDir, math.MaxInt32-2)
		le := w.lock(0)
		var waiting []<-chan result
		for n := range 6 {
			waiting = append(waiting, w.lockLater(context.Background(), n%3, locking.Exclusive))
		}
		var all []int32
		for _, out := range waiting {
			w.unlock(le)
			le = w.got(out, time.Second) // in the order of their coming
			n, _ := parseNode(le.name)
			all = append(all, n.seq)
		}
		w.unlock(le)
		want := []int32{math.MaxInt32 - 1, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, math.MinInt32 + 2, math.MinInt32 + 3}
		if !slices.Equal(all, want) {
			t.Errorf("numbers %d, want %d", all, want)
		}
	})
}

func TestForeignChildren(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		w.unlock(w.lock(0))
		for _, name := range []string{"_c_x", "lock-0000000000", "_c_" + guidA + "-lock-0000000000", "foo", "-x-", "sub"} {
			w.ens.Create(listDir+"/"+name, []byte("x"), 0)
		}
		w.unlock(w.lock(0))
		if le, err := w.host(1).TryLock(context.Background(), listKey, locking.Shared); err != nil {
			t.Error(err)
		} else {
			w.unlock(le)
		}
		if n := len(w.nodes()); n != 6 {
			t.Errorf("%d nodes left, want the 6 foreign ones", n)
		}
	})
}

// A waiter that is cut from its server, just when the lock comes free, hears of it.
func TestReconnectWhileWaiting(t *testing.T) {
	bubble(t, zktest.Config{Servers: 2}, func(w *world) {
		for range 5 {
			le := w.lock(0)
			next := w.lockLater(context.Background(), 1, locking.Exclusive)
			w.host(1).link.Cut()
			w.host(1).link.Drop()
			time.Sleep(2 * time.Second)
			w.unlock(le)
			time.Sleep(time.Second)
			w.host(1).link.Heal()
			w.unlock(w.got(next, 4*time.Second))
			w.clean()
		}
	})
}

func TestRemovedWaiterQueuesUpAgain(t *testing.T) {
	bubble(t, zktest.Config{}, func(w *world) {
		le := w.lock(0)
		next := w.lockLater(context.Background(), 1, locking.Exclusive)
		w.ens.Delete(listDir + "/" + w.nodes()[slices.IndexFunc(w.nodes(), func(s string) bool { return s != le.name })])
		w.unlock(le)
		w.unlock(w.got(next, time.Second))
		w.clean()
	})
}
