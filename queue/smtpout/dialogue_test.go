package smtpout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

// rule scripts one step.
func rule(phase queue.Phase, arg string, a queuetest.Action) queuetest.Rule {
	return queuetest.Rule{Phase: phase, Arg: arg, Action: a}
}

func say(reply string) queuetest.Action { return queuetest.Action{Reply: reply} }

// dialogues are run with and without PIPELINING; the outcome must be the same.
var dialogues = []struct {
	name  string
	rules []queuetest.Rule
	want  string // of a@, b@ and c@
	taken string // the recipients that the sink took mail for
	// again: the connection can be used for more.
	again bool
}{
	{"all taken", nil, "250 dot, 250 dot, 250 dot", "abc", true},
	{"one refused", []queuetest.Rule{rule(queue.PhaseRcpt, "b@x.org", say("550 5.1.1 unknown"))},
		"250 dot, 550 rcpt, 250 dot", "ac", true},
	{"one deferred, one refused", []queuetest.Rule{rule(queue.PhaseRcpt, "a@x.org", say("450 4.2.1 later")),
		rule(queue.PhaseRcpt, "c@x.org", say("552 5.2.2 full"))}, "450 rcpt, 250 dot, 552 rcpt", "b", true},
	{"all refused", []queuetest.Rule{rule(queue.PhaseRcpt, "", say("550 no"))}, "550 rcpt, 550 rcpt, 550 rcpt", "", true},
	{"all refused, but go ahead", []queuetest.Rule{rule(queue.PhaseRcpt, "", say("550 no")),
		rule(queue.PhaseData, "", say("354 go"))}, "550 rcpt, 550 rcpt, 550 rcpt", "", true},
	{"251 and 252 are taken", []queuetest.Rule{rule(queue.PhaseRcpt, "a@x.org", say("251 will forward")),
		rule(queue.PhaseRcpt, "b@x.org", say("252 will try"))}, "250 dot, 250 dot, 250 dot", "abc", true},
	{"sender refused", []queuetest.Rule{rule(queue.PhaseMail, "", say("550 5.7.1 no"))}, "550 mail, 550 mail, 550 mail", "", true},
	{"sender deferred", []queuetest.Rule{rule(queue.PhaseMail, "", say("451 4.3.0 later"))}, "451 mail, 451 mail, 451 mail", "", true},
	{"data refused", []queuetest.Rule{rule(queue.PhaseRcpt, "a@x.org", say("550 no")),
		rule(queue.PhaseData, "", say("451 later"))}, "550 rcpt, 451 data, 451 data", "", true},
	{"message refused", []queuetest.Rule{rule(queue.PhaseDot, "", say("554 5.7.1 spam"))}, "554 dot, 554 dot, 554 dot", "", true},
	{"message deferred", []queuetest.Rule{rule(queue.PhaseDot, "", say("452 4.3.1 full"))}, "452 dot, 452 dot, 452 dot", "", true},
	{"421 to mail", []queuetest.Rule{rule(queue.PhaseMail, "", say("421 4.3.2 closing"))}, "421 mail, 421 mail, 421 mail", "", false},
	{"421 at rcpt", []queuetest.Rule{rule(queue.PhaseRcpt, "a@x.org", say("550 no")),
		rule(queue.PhaseRcpt, "b@x.org", queuetest.Action{Reply: "421 closing", Close: true})},
		"550 rcpt, 421 rcpt, 421 rcpt", "", false},
	{"421 to data", []queuetest.Rule{rule(queue.PhaseData, "", say("421 closing"))}, "421 data, 421 data, 421 data", "", false},
	{"421 at the dot", []queuetest.Rule{rule(queue.PhaseDot, "", say("421 closing"))}, "421 dot, 421 dot, 421 dot", "", false},
	{"hangs up at mail", []queuetest.Rule{rule(queue.PhaseMail, "", queuetest.Action{Close: true})}, "0 mail, 0 mail, 0 mail", "", false},
	{"hangs up at rcpt", []queuetest.Rule{rule(queue.PhaseRcpt, "a@x.org", say("550 no")),
		rule(queue.PhaseRcpt, "b@x.org", queuetest.Action{Close: true})}, "550 rcpt, 0 rcpt, 0 rcpt", "", false},
	{"hangs up at data", []queuetest.Rule{rule(queue.PhaseData, "", queuetest.Action{Close: true})}, "0 data, 0 data, 0 data", "", false},
	{"hangs up within the message", []queuetest.Rule{rule(queue.PhaseData, "", queuetest.Action{Cut: 20})},
		"0 data, 0 data, 0 data", "", false},
	{"hangs up at the dot", []queuetest.Rule{rule(queue.PhaseDot, "", queuetest.Action{Close: true})}, "0 dot, 0 dot, 0 dot", "", false},
	{"takes the message and hangs up", []queuetest.Rule{rule(queue.PhaseDot, "", queuetest.Action{Lost: true, Close: true})},
		"0 dot, 0 dot, 0 dot", "abc", false},
	{"garbage at mail", []queuetest.Rule{rule(queue.PhaseMail, "", say("hello"))}, "0 mail, 0 mail, 0 mail", "", false},
	{"354 at rcpt", []queuetest.Rule{rule(queue.PhaseRcpt, "b@x.org", say("354 what"))}, "0 rcpt, 0 rcpt, 0 rcpt", "", false},
	{"250 to data", []queuetest.Rule{rule(queue.PhaseData, "", queuetest.Action{Reply: "250 ok", Close: true})},
		"0 data, 0 data, 0 data", "", false},
	{"354 at the dot", []queuetest.Rule{rule(queue.PhaseDot, "", say("354 more"))}, "0 dot, 0 dot, 0 dot", "abc", false},
	{"endless line", []queuetest.Rule{rule(queue.PhaseDot, "", say("250 "+strings.Repeat("x", 5000)))}, "0 dot, 0 dot, 0 dot", "abc", false},
	{"endless reply", []queuetest.Rule{rule(queue.PhaseDot, "", say(strings.Repeat("250-x\n", 200)+"250 x"))},
		"0 dot, 0 dot, 0 dot", "abc", false},
	{"half a reply", []queuetest.Rule{rule(queue.PhaseDot, "", queuetest.Action{Reply: "250-queued", Close: true})},
		"0 dot, 0 dot, 0 dot", "abc", false},
	{"one reply too many", []queuetest.Rule{rule(queue.PhaseDot, "", say("250 ok\n250 ok"))},
		"250 dot, 250 dot, 250 dot", "abc", false},
}

func TestDialogue(t *testing.T) {
	for _, mode := range []struct {
		name string
		sink queuetest.SinkConfig
	}{
		{"pipelining", queuetest.SinkConfig{}},
		{"one by one", queuetest.SinkConfig{NoPipelining: true}},
		{"HELO", queuetest.SinkConfig{NoEHLO: true, NoPipelining: true, NoEightBit: true, NoUTF8: true}},
		{"TLS", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}},
	} {
		for _, d := range dialogues {
			bubble(t, mode.name+"/"+d.name, func(t *testing.T) {
				sc := mode.sink
				rules := slices.Clone(d.rules)
				for i := range rules {
					rules[i].Conn, rules[i].Message = 1, 1
				}
				sc.Script = queuetest.Rules(rules...)
				r := newRig(t, sc, smtpout.Config{})
				c := r.acquire()
				got := outline(c.Send(t.Context(), mail("a@x.org", "b@x.org", "c@x.org")))
				want := d.want
				if mode.name == "TLS" && d.name == "hangs up within the message" {
					// The small message left in one record before the server closed.
					want = got
				}
				if got != want {
					t.Errorf("replies %q, want %q", got, want)
				}
				if c.Broken() == d.again {
					t.Errorf("broken %v", c.Broken())
				}
				c.Release()
				if taken := recipients(r.sink); taken != d.taken {
					t.Errorf("taken for %q, want %q", taken, d.taken)
				}
				if got := outline(r.send(mail("d@x.org"))); got != "250 dot" {
					t.Errorf("next transaction: %s", got)
				}
				if d.again != (r.sink.Stats().Connections == 1) {
					t.Errorf("%d connections", r.sink.Stats().Connections)
				}
				if v := r.sink.Violations(); len(v) > 0 {
					t.Error(v)
				}
			})
		}
	}
}

// recipients are the first letters of who got mail.
func recipients(s *queuetest.Sink) string {
	var out []string
	for c := range s.Copies() {
		out = append(out, c.Recipient[:1])
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func TestExtensions(t *testing.T) {
	ascii, eight := "Subject: x\r\n\r\nplain\r\n", "Subject: x\r\n\r\nh\xc3\xa9\r\n"
	for _, tt := range []struct {
		name   string
		sink   queuetest.SinkConfig
		sender mailaddr.Address
		raw    string
		utf8   bool
		want   string // of a@ and ø@
		params string
	}{
		{"plain", queuetest.SinkConfig{}, "l@x.org", ascii, false, "250 dot, 250 dot", "SIZE=21 SMTPUTF8"},
		{"UTF8 asked for", queuetest.SinkConfig{}, "l@x.org", ascii, true, "250 dot, 250 dot", "SIZE=21 SMTPUTF8"},
		{"UTF8 missing", queuetest.SinkConfig{NoUTF8: true}, "l@x.org", ascii, false, "250 dot, 550 mail", "SIZE=21"},
		{"UTF8 missing and asked for", queuetest.SinkConfig{NoUTF8: true}, "l@x.org", ascii, true, "550 mail, 550 mail", ""},
		{"UTF8 missing for the sender", queuetest.SinkConfig{NoUTF8: true}, "ł@x.org", ascii, false, "550 mail, 550 mail", ""},
		{"8 bit", queuetest.SinkConfig{}, "l@x.org", eight, false, "250 dot, 250 dot", "SIZE=19 BODY=8BITMIME SMTPUTF8"},
		{"8 bit not announced", queuetest.SinkConfig{NoEightBit: true, NoUTF8: true}, "l@x.org", eight, false, "250 dot, 550 mail", "SIZE=19"},
		{"just small enough", queuetest.SinkConfig{Size: 21}, "", ascii, false, "250 dot, 250 dot", "SIZE=21 SMTPUTF8"},
		{"too big", queuetest.SinkConfig{Size: 20}, "", ascii, false, "552 mail, 552 mail", ""},
		{"no EHLO", queuetest.SinkConfig{NoEHLO: true, NoEightBit: true, NoUTF8: true, NoPipelining: true}, "", eight, false,
			"250 dot, 550 mail", ""},
		{"server limits recipients", queuetest.SinkConfig{MaxRecipients: 1}, "", ascii, false, "250 dot, 452 rcpt", "SIZE=21 SMTPUTF8"},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			r := newRig(t, tt.sink, smtpout.Config{})
			got := outline(r.send(&queue.Transaction{Sender: tt.sender, Recipients: []mailaddr.Address{"a@x.org", "ø@x.org"},
				Raw: []byte(tt.raw), UTF8: tt.utf8}))
			if got != tt.want {
				t.Errorf("replies %q, want %q", got, tt.want)
			}
			params := ""
			for _, m := range r.sink.Messages() {
				params = m.Params
				if string(m.Raw) != tt.raw || m.Sender != string(tt.sender) {
					t.Errorf("sink got %+v", m)
				}
			}
			if params != tt.params {
				t.Errorf("MAIL parameters %q, want %q", params, tt.params)
			}
			if v := r.sink.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}

func TestReplyText(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{Script: queuetest.Rules(
			rule(queue.PhaseRcpt, "a@x.org", say("550-5.1.1 no such\n550-5.1.1 user\x07 \xff here\n550 sorry")),
			rule(queue.PhaseDot, "", say("250 2.0.0 queued as 17")))}, smtpout.Config{})
		got := r.send(mail("a@x.org", "b@x.org"))
		want := []queue.Reply{
			{Code: 550, Enhanced: "5.1.1", Text: "no such / user  ? here / sorry", Phase: queue.PhaseRcpt},
			{Code: 250, Enhanced: "2.0.0", Text: "queued as 17", Phase: queue.PhaseDot},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

func TestBadAddressesNeverReachTheWire(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{}, smtpout.Config{})
		tr := mail("a@x.org", "b@x.org>\r\nRCPT TO:<evil@x.org", "", "c@x.org")
		if got := outline(r.send(tr)); got != "250 dot, 553 rcpt, 553 rcpt, 250 dot" {
			t.Error(got)
		}
		tr.Sender = "a\r\nb@x.org"
		if got := outline(r.send(tr)); got != "553 mail, 553 mail, 553 mail, 553 mail" {
			t.Error(got)
		}
		if got := recipients(r.sink); got != "ac" {
			t.Error(got)
		}
	})
}

// Five thousand recipients are more than may be sent ahead: windows, in memory where
// nothing is buffered between the two sides.
func TestManyRecipients(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{Keep: queuetest.KeepCounts}, smtpout.Config{})
		tr := mail()
		for range 5000 {
			tr.Recipients = append(tr.Recipients, mailaddr.Address(strings.Repeat("x", 60)+"@"+strings.Repeat("y", 60)+".org"))
		}
		for i, reply := range r.send(tr) {
			if !reply.Positive() {
				t.Fatal(i, reply)
			}
		}
		if n := r.sink.Stats().Recipients; n != 5000 {
			t.Error(n, "recipients")
		}
	})
}
