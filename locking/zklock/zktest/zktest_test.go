package zktest

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// connect is a plain client of the library at one link.
func connect(t *testing.T, l *Link) *zk.Conn {
	conn, events, err := zk.Connect([]string{"127.0.0.1:1"}, 12*time.Second, zk.WithLogInfo(false),
		zk.WithDialer(func(network, _ string, _ time.Duration) (net.Conn, error) {
			return l.Dial(context.Background(), network, "s0:1")
		}))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range events {
		}
	}()
	t.Cleanup(conn.Close)
	return conn
}

func bubble(t *testing.T, f func(t *testing.T, e *Ensemble)) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		t.Cleanup(e.Close)
		f(t, e)
	})
}

// A watch is set again after a reconnection, and tells what was missed.
func TestSetWatches(t *testing.T) {
	bubble(t, func(t *testing.T, e *Ensemble) {
		link := e.Link()
		c := connect(t, link)
		for _, name := range []string{"/gone", "/stays"} {
			if _, err := c.Create(name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
		}
		_, _, gone, err := c.GetW("/gone")
		if err != nil {
			t.Fatal(err)
		}
		_, _, stays, err := c.GetW("/stays")
		if err != nil {
			t.Fatal(err)
		}
		link.Cut()
		link.Drop()
		e.Delete("/gone")
		link.Heal()
		if ev := <-gone; ev.Type != zk.EventNodeDeleted {
			t.Errorf("got %+v", ev)
		}
		synctest.Wait()
		if e.Calls("setWatches") != 1 || e.Watches() != 1 {
			t.Errorf("%d times set again, %d watches", e.Calls("setWatches"), e.Watches())
		}
		e.Delete("/stays")
		if ev := <-stays; ev.Type != zk.EventNodeDeleted {
			t.Errorf("got %+v", ev)
		}
	})
}

// A silent client loses its session and the nodes with it.
func TestSessionEnds(t *testing.T) {
	bubble(t, func(t *testing.T, e *Ensemble) {
		link := e.Link()
		c := connect(t, link)
		name, err := c.Create("/x-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if err != nil || name != "/x-0000000000" {
			t.Fatal(name, err)
		}
		time.Sleep(time.Minute)
		if n := e.Nodes("/x"); len(n) != 1 {
			t.Errorf("nodes of a live session: %q", n)
		}
		link.Cut()
		time.Sleep(11 * time.Second)
		before := len(e.Nodes("/x"))
		time.Sleep(5 * time.Second)
		if before > 1 || len(e.Nodes("/x")) != 0 {
			t.Errorf("nodes of a dead session: %q", e.Nodes("/x"))
		}
		link.Heal()
		time.Sleep(2 * time.Second)
		if n := e.Sessions(); len(n) != 1 || n[0] != c.SessionID() {
			t.Errorf("sessions %v, the client has %d", n, c.SessionID())
		}
	})
}

// A server that lags shows old things until its client writes or asks it to catch up.
func TestLag(t *testing.T) {
	bubble(t, func(t *testing.T, e *Ensemble) {
		c := connect(t, e.Link())
		e.Lag(0, true)
		e.Create("/new", nil, 0)
		if ok, _, err := c.Exists("/new"); ok || err != nil {
			t.Errorf("seen at once: %v %v", ok, err)
		}
		if _, err := c.Sync("/"); err != nil {
			t.Fatal(err)
		}
		if ok, _, err := c.Exists("/new"); !ok || err != nil {
			t.Errorf("not seen after a sync: %v %v", ok, err)
		}
	})
}
