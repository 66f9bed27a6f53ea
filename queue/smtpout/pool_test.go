package smtpout_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

func TestReuseAndIdleTime(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{IdleTime: time.Minute, MaxMessages: 3})
		for range 3 {
			r.send(mail("a@x.org"))
			time.Sleep(59 * time.Second)
		}
		if s := r.pool.Stats(); s.Opened != 1 || s.Reused != 2 {
			t.Errorf("%+v", s)
		}
		r.send(mail("a@x.org")) // the fourth message
		if s := r.pool.Stats(); s.Opened != 2 || s.Open != 1 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := r.pool.Stats(); s.Open != 0 || r.sink.Stats().Open != 0 {
			t.Errorf("idle connection kept: %+v, %+v", s, r.sink.Stats())
		}
		if s := r.pool.Stats(); s.Transactions != 4 || s.Recipients != 4 || s.Replies != [6]int64{2: 4} {
			t.Errorf("%+v", s)
		}
	})
}

func TestMaxMessagesBreaksTheConn(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{MaxMessages: 2})
		c := r.acquire()
		for i := range 2 {
			if c.Broken() {
				t.Fatal("broken before message", i)
			}
			c.Send(t.Context(), mail("a@x.org"))
		}
		if !c.Broken() {
			t.Error("not broken at the limit")
		}
		c.Release()
		c.Release() // again does no harm
		if !c.Broken() || outline(c.Send(t.Context(), mail("a@x.org"))) != "0 connect" {
			t.Error("usable after Release")
		}
	})
}

// Never more connections than allowed, whoever is served in turn.
func TestMaxConns(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(rule(queue.PhaseDot, "", queuetest.Action{Wait: time.Second}))},
			smtpout.Config{MaxConns: 3})
		start := time.Now()
		var wg sync.WaitGroup
		for range 9 {
			wg.Go(func() { r.send(mail("a@x.org")) })
		}
		time.Sleep(time.Second / 2)
		if n := r.sink.Stats().Open; n != 3 {
			t.Error(n, "connections")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/4)
		defer cancel()
		if _, err := r.pool.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wg.Wait()
		if d := time.Since(start); d != 3*time.Second || r.sink.Stats().Connections != 3 {
			t.Error(d, r.sink.Stats())
		}
	})
}

// A connection that the server closed while it was idle, in whatever way, is
// replaced without anybody noticing; a second failure is told.
func TestStaleConnections(t *testing.T) {
	closes := map[string]queuetest.Action{
		"closed":       {Close: true},
		"421":          {Reply: "421 4.4.2 idle too long", Close: true},
		"421 and open": {Reply: "421 4.4.2 too many messages"},
	}
	for name, a := range closes {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(
				queuetest.Rule{Conn: 1, Message: 2, Phase: queue.PhaseMail, Action: a},
				queuetest.Rule{Conn: 2, Message: 2, Phase: queue.PhaseMail, Action: a},
				queuetest.Rule{Conn: 3, Message: 1, Phase: queue.PhaseMail, Action: queuetest.Action{Close: true}},
			)}, smtpout.Config{})
			for i, want := range []string{"250 dot", "250 dot", "0 mail", "250 dot"} {
				if got := outline(r.send(mail("a@x.org"))); got != want {
					t.Errorf("transaction %d: %s, want %s", i, got, want)
				}
			}
			if s := r.pool.Stats(); s.Stale != 2 || s.Failures != 1 {
				t.Errorf("%+v", s)
			}
			if d := r.sink.Duplicates(); d != nil && len(d) != 2 {
				t.Error(d)
			}
		})
	}
}

func TestStaleAndGone(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(
			queuetest.Rule{Conn: 1, Message: 2, Phase: queue.PhaseMail, Action: queuetest.Action{Close: true}},
			queuetest.Rule{Conn: 2, Phase: queue.PhaseGreeting, Action: say("554 5.3.2 not today")},
		)}, smtpout.Config{})
		r.send(mail("a@x.org"))
		if got := outline(r.send(mail("a@x.org", "b@x.org"))); got != "554 greeting, 554 greeting" {
			t.Error(got)
		}
	})
}

// What was left open is reset before the next MAIL, in the same write.
func TestReset(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		resets := 0
		script := queuetest.Rules(queuetest.Rule{Message: 1, Phase: queue.PhaseRcpt, Action: say("550 no")},
			queuetest.Rule{Message: 2, Phase: queue.PhaseData, Action: say("451 later")})
		r := newRig(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
			if s.Phase == queuetest.PhaseReset {
				resets++
			}
			return script(s)
		}}, smtpout.Config{})
		got := []string{outline(r.send(mail("a@x.org"))), outline(r.send(mail("a@x.org"))), outline(r.send(mail("a@x.org"))), outline(r.send(mail("a@x.org")))}
		if s := strings.Join(got, ", "); s != "550 rcpt, 451 data, 250 dot, 250 dot" || resets != 2 || r.sink.Stats().Connections != 1 {
			t.Error(s, resets, r.sink.Stats())
		}
	})
}

func TestSecondHost(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var down bool
		var dialled []string
		sink, err := queuetest.NewSink(queuetest.SinkConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer sink.Close()
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{Host: "one, two", MaxConns: 1, IdleTime: time.Hour,
			Breaker: smtpout.Breaker{Failures: 2, Pause: time.Minute},
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialled = append(dialled, addr)
				if down && addr == "one:25" {
					return nil, errors.New("no route")
				}
				return sink.Dial(ctx, network, addr)
			}})
		try := func(want string) {
			t.Helper()
			dialled = nil
			if got := outline(r.send(mail("a@x.org"))); got != "250 dot" {
				t.Error(got)
			}
			if got := strings.Join(dialled, " "); got != want {
				t.Errorf("dialled %q, want %q", got, want)
			}
			synctest.Wait()
			if n := sink.Stats().Open; n != 1 {
				t.Error(n, "connections")
			}
		}
		down = true
		try("one:25 two:25")
		try("one:25") // fails, and opens the breaker of one; two is idle
		try("")
		down = false
		time.Sleep(76 * time.Second) // a minute and a quarter at most
		try("one:25")                // two's connection made room
		try("")
	})
}

func TestClosedPool(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{})
		c := r.acquire()
		r.pool.Close()
		if got := outline(c.Send(t.Context(), mail("a@x.org"))); got != "250 dot" {
			t.Error(got)
		}
		c.Release()
		if _, err := r.pool.Acquire(t.Context()); !errors.Is(err, smtpout.ErrClosed) || r.pool.Stats().Open != 0 {
			t.Error(err, r.pool.Stats())
		}
	})
}
