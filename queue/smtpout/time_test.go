package smtpout_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

// Each step has its own patience (RFC 5321 §4.5.3.2).
func TestTimeouts(t *testing.T) {
	big := []byte(strings.Repeat("0123456789\r\n", 100_000))
	for _, tt := range []struct {
		phase queue.Phase
		a     queuetest.Action
		raw   []byte
		want  string
		after time.Duration
	}{
		{queue.PhaseMail, queuetest.Action{Hang: true}, nil, "0 mail", 5 * time.Minute},
		{queue.PhaseRcpt, queuetest.Action{Hang: true}, nil, "0 rcpt", 5 * time.Minute},
		{queue.PhaseData, queuetest.Action{Hang: true}, nil, "0 data", 2 * time.Minute},
		{queue.PhaseData, queuetest.Action{Reply: "354 go", Deaf: true}, big, "0 data", 3 * time.Minute},
		{queue.PhaseDot, queuetest.Action{Hang: true}, nil, "0 dot", 10 * time.Minute},
		{queue.PhaseDot, queuetest.Action{Lost: true, Hang: true}, nil, "0 dot", 10 * time.Minute},
		{queue.PhaseDot, queuetest.Action{Wait: 10*time.Minute - 1}, nil, "250 dot", 10*time.Minute - 1},
		{queue.PhaseMail, queuetest.Action{Wait: 5*time.Minute - 1}, nil, "250 dot", 5*time.Minute - 1},
	} {
		bubble(t, tt.want, func(t *testing.T) {
			r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(rule(tt.phase, "", tt.a))}, smtpout.Config{})
			c := r.acquire()
			defer c.Release()
			m := mail("a@x.org")
			if tt.raw != nil {
				m.Raw = tt.raw
			}
			start := time.Now()
			got := c.Send(t.Context(), m)
			if outline(got) != tt.want || time.Since(start) != tt.after {
				t.Errorf("%v after %v", got, time.Since(start))
			}
		})
	}
}

// A server that sends a reply octet by octet cannot hold us longer than one that is
// silent.
func TestTricklingReply(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{Dial: trickle(time.Minute)})
		start := time.Now()
		_, err := r.pool.Acquire(t.Context())
		if failure(err) != "greeting: timeout: i/o timeout" || time.Since(start) != 5*time.Minute {
			t.Error(err, time.Since(start))
		}
		time.Sleep(time.Minute) // the server notices
	})
}

func TestConnectTimeouts(t *testing.T) {
	for _, tt := range []struct {
		phase queue.Phase
		c     smtpout.Config
		want  string
		after time.Duration
	}{
		{queue.PhaseGreeting, smtpout.Config{}, "greeting: timeout: i/o timeout", 5 * time.Minute},
		{queue.PhaseEHLO, smtpout.Config{Timeouts: smtpout.Timeouts{Greeting: time.Second}}, "ehlo: timeout: i/o timeout", time.Second},
		{queue.PhaseTLS, smtpout.Config{}, "starttls: timeout: i/o timeout", 5 * time.Minute},
		{queue.PhaseAuth, smtpout.Config{Username: "u", Password: "p"}, "auth: timeout: i/o timeout", 5 * time.Minute},
	} {
		bubble(t, string(tt.phase), func(t *testing.T) {
			tt.c.TLS = smtpout.TLSRequire
			r := newRig(t, queuetest.SinkConfig{TLS: queuetest.SinkStartTLS, Users: map[string]string{"u": "p"},
				Script: queuetest.Rules(rule(tt.phase, "", queuetest.Action{Hang: true}))}, tt.c)
			start := time.Now()
			_, err := r.pool.Acquire(t.Context())
			if failure(err) != tt.want || time.Since(start) != tt.after {
				t.Error(err, time.Since(start))
			}
		})
	}
}

// The end of the context ends any step at once, and is not the smarthost's fault.
func TestContextEnds(t *testing.T) {
	stop := errors.New("shutting down")
	for _, phase := range []queue.Phase{queue.PhaseGreeting, queue.PhaseEHLO, queue.PhaseTLS, queue.PhaseMail, queue.PhaseRcpt,
		queue.PhaseData, queue.PhaseDot} {
		bubble(t, string(phase), func(t *testing.T) {
			r := newRig(t, queuetest.SinkConfig{TLS: queuetest.SinkStartTLS,
				Script: queuetest.Rules(rule(phase, "", queuetest.Action{Hang: true}))}, smtpout.Config{Breaker: smtpout.Breaker{Failures: 1}})
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(stop) })
			start := time.Now()
			c, err := r.pool.Acquire(ctx)
			if err == nil {
				got := c.Send(ctx, mail("a@x.org"))
				if outline(got) != "0 "+string(phase) || got[0].Text != stop.Error() || !c.Broken() {
					t.Error(got)
				}
				c.Release()
			} else if !errors.Is(err, stop) {
				t.Error(err)
			}
			if d := time.Since(start); d != time.Second || r.pool.Stats().Failures != 0 {
				t.Error(d, r.pool.Stats())
			}
		})
	}
}

func TestEndedContext(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{})
		c := r.acquire()
		defer c.Release()
		got := c.Send(cancelled(), mail("a@x.org"))
		if outline(got) != "0 mail" || got[0].Text != "shutting down" || c.Broken() {
			t.Error(got, c.Broken())
		}
		if got := outline(c.Send(t.Context(), mail("a@x.org"))); got != "250 dot" {
			t.Error(got)
		}
	})
}

// The breaker opens after failures in a row, lets one try when its pause is over,
// waits longer each time, and closes when MAIL is answered.
func TestBreaker(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		down := true
		var log bytes.Buffer
		r := newRig(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
			if down && s.Phase == queue.PhaseGreeting {
				return say("421 4.3.2 down")
			}
			return queuetest.Action{}
		}}, smtpout.Config{Breaker: smtpout.Breaker{Failures: 3, Pause: 10 * time.Second, MaxPause: 30 * time.Second},
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		after := func() time.Duration {
			t.Helper()
			_, err := r.pool.Acquire(t.Context())
			site, ok := errors.AsType[*queue.SiteError](err)
			if !ok {
				t.Fatal(err)
			}
			return site.RetryAfter
		}
		if d := after() + after(); d != 0 {
			t.Error("open too early:", d)
		}
		for _, base := range []time.Duration{10, 20, 30, 30} {
			wait := after() // the failure that opens it
			if wait < base*time.Second*3/4 || wait > base*time.Second*5/4 {
				t.Errorf("pause %v, want about %v", wait, base*time.Second)
			}
			n := r.sink.Stats().Connections
			time.Sleep(wait - time.Second)
			if d := after(); d != time.Second || r.sink.Stats().Connections != n {
				t.Error("tried while open:", d)
			}
			time.Sleep(time.Second)
		}
		down = false
		c := r.acquire()
		if d := after(); d == 0 {
			t.Error("two probes")
		}
		c.Send(t.Context(), mail("a@x.org"))
		other := r.acquire()
		other.Release()
		c.Release()
		if n := strings.Count(log.String(), "level=WARN"); n != 4 || strings.Count(log.String(), "works again") != 1 {
			t.Error(log.String())
		}
	})
}

// A message that the smarthost hangs up on, or refuses, is no reason to leave the
// smarthost alone; silence before the answer to MAIL is.
func TestWhatTheBreakerCounts(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule queuetest.Rule
		want int64
	}{
		{"hangs up at data", rule(queue.PhaseData, "", queuetest.Action{Close: true}), 0},
		{"hangs up at rcpt", rule(queue.PhaseRcpt, "", queuetest.Action{Close: true}), 0},
		{"silent at the dot", rule(queue.PhaseDot, "", queuetest.Action{Hang: true}), 0},
		{"refuses the sender", rule(queue.PhaseMail, "", say("550 5.7.1 no")), 0},
		{"hangs up at mail", rule(queue.PhaseMail, "", queuetest.Action{Close: true}), 1},
		{"silent at mail", rule(queue.PhaseMail, "", queuetest.Action{Hang: true}), 1},
		{"421 to mail", rule(queue.PhaseMail, "", say("421 4.3.2 no")), 1},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(tt.rule)}, smtpout.Config{Breaker: smtpout.Breaker{Failures: 1}})
			r.send(mail("a@x.org"))
			if n := r.pool.Stats().Failures; n != tt.want || r.pool.States()[0].Open != (tt.want > 0) {
				t.Error(n, r.pool.States())
			}
		})
	}
}

// A probe that was given back unused leaves the next one to try.
func TestUnusedProbe(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(
			queuetest.Rule{Conn: 1, Phase: queue.PhaseConnect, Action: queuetest.Action{Close: true}})},
			smtpout.Config{Breaker: smtpout.Breaker{Failures: 1, Pause: time.Second}})
		if _, err := r.pool.Acquire(t.Context()); err == nil {
			t.Fatal("connected")
		}
		time.Sleep(2 * time.Second)
		r.acquire().Release()
		if got := outline(r.send(mail("a@x.org"))); got != "250 dot" {
			t.Error(got)
		}
		synctest.Wait()
	})
}

// A large message goes in blocks, each with its own patience: a slow line is not a
// dead one.
func TestSlowLine(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		sink, err := queuetest.NewSink(queuetest.SinkConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer sink.Close()
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{Dial: slowly(sink.Dial, time.Minute)})
		m := mail("a@x.org")
		m.Raw = []byte(strings.Repeat("0123456789\r\n", 30_000))
		start := time.Now()
		if got := outline(r.send(m)); got != "250 dot" || time.Since(start) < 5*time.Minute {
			t.Error(got, time.Since(start))
		}
		if got := sink.Messages()[0]; string(got.Raw) != string(m.Raw) || got.Recipients[0] != string(mailaddr.Address("a@x.org")) {
			t.Error(len(got.Raw))
		}
	})
}
