package queuetest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/smtp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/queue"
	"qrunner/queue/queuetest"
)

const note = "Subject: x\r\nMESSAGE-id:\r\n <1@x.org>\r\n\r\n.dot\r\n"

func open(t *testing.T, c queuetest.SinkConfig) *queuetest.Sink {
	t.Helper()
	s, err := queuetest.NewSink(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// client is the standard library's, over a connection in memory.
func client(t *testing.T, s *queuetest.Sink) *smtp.Client {
	t.Helper()
	conn, err := s.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func deliver(c *smtp.Client, to ...string) error {
	if err := c.Mail("l@x.org"); err != nil {
		return err
	}
	for _, r := range to {
		if err := c.Rcpt(r); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, note); err != nil {
		return err
	}
	return w.Close()
}

func TestSinkRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, queuetest.SinkConfig{})
		c := client(t, s)
		if err := errors.Join(deliver(c, "a@x.org", "b@x.org"), deliver(c, "b@x.org"), c.Quit()); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(t.Context(), 3); err != nil {
			t.Error(err)
		}
		b := queuetest.Copy{MessageID: "<1@x.org>", Sum: "8ed9e1ec4c9b2b7e", Recipient: "b@x.org"}
		m := s.Messages()
		if len(m) != 2 || m[0].Sender != "l@x.org" || string(m[0].Raw) != note || m[0].Params != "BODY=8BITMIME SMTPUTF8" {
			t.Fatalf("%+v", m)
		}
		b.Sum = m[0].Sum
		if d := cmp.Diff([]queuetest.Copy{b}, s.Duplicates()); d != "" || s.Copies()[b] != 2 {
			t.Error(d, s.Copies())
		}
		want := queuetest.SinkStats{Connections: 1, Transactions: 2, Recipients: 3, Octets: int64(2 * len(note)), Duplicates: 1}
		synctest.Wait()
		if d := cmp.Diff(want, s.Stats()); d != "" {
			t.Error(d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := s.Wait(ctx, 4); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestSinkCountsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, queuetest.SinkConfig{Keep: queuetest.KeepCounts})
		c := client(t, s)
		for range 10 {
			if err := deliver(c, "a@x.org"); err != nil {
				t.Fatal(err)
			}
		}
		if s.Stats().Recipients != 10 || len(s.Messages())+len(s.Copies())+len(s.Duplicates()) != 0 {
			t.Errorf("%+v", s.Stats())
		}
	})
}

func TestSinkOverTCPWithTLS(t *testing.T) {
	s := open(t, queuetest.SinkConfig{TLS: queuetest.SinkStartTLS, Users: map[string]string{"u": "p"}})
	addr, err := s.Listen(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	// The standard client's SendMail verifies with the system's roots: it must fail.
	err = smtp.SendMail(addr, smtp.PlainAuth("", "u", "p", "127.0.0.1"), "l@x.org", []string{"a@x.org"}, []byte(note))
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}

// talk says lines and returns all that is answered until the end.
func talk(t *testing.T, s *queuetest.Sink, lines string) string {
	t.Helper()
	conn, err := s.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		io.WriteString(conn, lines) // the sink may have hung up
	}()
	out, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	return string(out)
}

func TestSinkIsStrict(t *testing.T) {
	for _, tt := range []struct{ lines, violation, codes string }{
		{"EHLO x\nQUIT\r\n", "bare LF", "220 250 221"},
		{"FOO\r\nQUIT\r\n", "unknown command", "220 500 221"},
		{"MAIL FROM:<a@x.org>\r\nMAIL FROM:<a@x.org>\r\nQUIT\r\n", "MAIL within", "220 250 503 221"},
		{"MAIL FROM:<a@x.org> SIZE=5 RET=FULL\r\nQUIT\r\n", "RET=FULL was not announced", "220 555 221"},
		{"MAIL FROM:<\u00e4@x.org>\r\nQUIT\r\n", "without SMTPUTF8", "220 250 221"},
		{"RCPT TO:<a@x.org>\r\nDATA\r\nQUIT\r\n", "behind DATA", "220 503 503 221"},
		{"MAIL FROM:<>\r\nRCPT TO:<a@x.org>\r\nDATA\r\na\n.\n\r\n.x\r\n.\r\nQUIT\r\n", "bare LF", "220 250 250 354 250 221"},
		{"RSET\r\nNOOP\r\nHELO x\r\nQUIT\r\n", "", "220 250 250 250 221"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, queuetest.SinkConfig{})
			out := talk(t, s, tt.lines)
			var codes []string
			for line := range strings.Lines(out) {
				if line[3] == ' ' {
					codes = append(codes, line[:3])
				}
			}
			if got := strings.Join(codes, " "); got != tt.codes {
				t.Errorf("%q: %s, want %s", tt.lines, got, tt.codes)
			}
			if v := strings.Join(s.Violations(), "; "); !strings.Contains(v, tt.violation) || (tt.violation == "") != (v == "") {
				t.Errorf("%q: violations %q", tt.lines, v)
			}
		})
	}
}

func TestSinkScript(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule queuetest.Rule
		want string
		copy bool
	}{
		{"cut", queuetest.Rule{Phase: queue.PhaseData, Action: queuetest.Action{Cut: 10}}, "354", false},
		{"close", queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Close: true}}, "354", false},
		{"lost", queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Lost: true, Close: true}}, "354", true},
		{"reply and close", queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Reply: "250 ok", Close: true}}, "250", true},
		{"refuse and close", queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Reply: "554 no", Close: true}}, "554", false},
		{"wait", queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Wait: time.Hour}}, "221", true},
		{"used up", queuetest.Rule{Phase: queue.PhaseMail, Times: 1, Action: queuetest.Action{Reply: "250 once"}}, "221", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, queuetest.SinkConfig{Script: queuetest.Rules(tt.rule)})
			out := talk(t, s, "MAIL FROM:<>\r\nRCPT TO:<a@x.org>\r\nDATA\r\n"+strings.Repeat("x", 20)+"\r\n.\r\nQUIT\r\n")
			lines := strings.Split(strings.TrimSpace(out), "\r\n")
			if last := lines[len(lines)-1]; last[:3] != tt.want || (s.Stats().Recipients == 1) != tt.copy {
				t.Errorf("%s: %q, %+v", tt.name, out, s.Stats())
			}
		})
	}
}
