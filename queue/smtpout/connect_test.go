package smtpout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

func TestSiteErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sink  queuetest.SinkConfig
		rules []queuetest.Rule
		c     smtpout.Config
		want  string
	}{
		{"no connection", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseConnect, "", queuetest.Action{Close: true})},
			smtpout.Config{}, "connect: connection refused"},
		{"closed at once", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseGreeting, "", queuetest.Action{Close: true})},
			smtpout.Config{}, "greeting: connection closed: EOF"},
		{"refused", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseGreeting, "", say("554-go\n554 away"))},
			smtpout.Config{}, "greeting: 554 go / away"},
		{"overloaded", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseGreeting, "", say("421 4.3.2 busy"))},
			smtpout.Config{}, "greeting: 421 4.3.2 busy"},
		{"no SMTP", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseGreeting, "", say("SSH-2.0-OpenSSH_9.2"))},
			smtpout.Config{}, `greeting: not an SMTP reply: "SSH-2.0-OpenSSH_9.2"`},
		{"EHLO and HELO refused", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseEHLO, "", say("550 5.7.1 no"))},
			smtpout.Config{}, "ehlo: 550 5.7.1 no"},
		{"EHLO deferred", queuetest.SinkConfig{}, []queuetest.Rule{rule(queue.PhaseEHLO, "", say("451 later"))},
			smtpout.Config{}, "ehlo: 451 later"},
		{"TLS not announced", queuetest.SinkConfig{}, nil, smtpout.Config{TLS: smtpout.TLSRequire},
			"starttls: STARTTLS is not announced"},
		{"TLS refused", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, []queuetest.Rule{rule(queue.PhaseTLS, "", say("454 no"))},
			smtpout.Config{TLS: smtpout.TLSRequire}, "starttls: 454 no"},
		{"text injected before TLS", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS},
			[]queuetest.Rule{rule(queue.PhaseTLS, "", say("220 go\n250 injected"))},
			smtpout.Config{TLS: smtpout.TLSRequire}, "starttls: not an SMTP reply: more text before the TLS handshake"},
		{"certificate for another name", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, nil,
			smtpout.Config{TLS: smtpout.TLSRequire, ServerName: "mail.example.org"},
			"starttls: tls: failed to verify certificate: x509: certificate is valid for localhost, not mail.example.org"},
		{"AUTH not announced", queuetest.SinkConfig{}, nil, smtpout.Config{Username: "u", Password: "p", AuthInClear: true},
			"auth: neither AUTH PLAIN nor AUTH LOGIN is announced"},
		{"AUTH in the clear", queuetest.SinkConfig{Users: map[string]string{"u": "p"}}, nil,
			smtpout.Config{Username: "u", Password: "p"}, "auth: no TLS: the password is not sent"},
		{"wrong password", queuetest.SinkConfig{Users: map[string]string{"u": "p"}}, nil,
			smtpout.Config{Username: "u", Password: "q", AuthInClear: true}, "auth: 535 5.7.8 wrong name or password"},
		{"the password quoted", queuetest.SinkConfig{Users: map[string]string{"u": "p"}},
			[]queuetest.Rule{rule(queue.PhaseAuth, "", say("501 AUTH PLAIN AHUAaHVudGVyMg== or hunter2 is bad"))},
			smtpout.Config{Username: "u", Password: "hunter2", AuthInClear: true},
			"auth: 501 AUTH PLAIN [secret] or [secret] is bad"},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			tt.sink.Script = queuetest.Rules(tt.rules...)
			r := newRig(t, tt.sink, tt.c)
			_, err := r.pool.Acquire(t.Context())
			if got := failure(err); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTLSAndAuth(t *testing.T) {
	users := map[string]string{"u": "p\u00e4ss"}
	for _, tt := range []struct {
		name string
		sink queuetest.SinkConfig
		c    smtpout.Config
		tls  bool
		user string
	}{
		{"may, announced", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, smtpout.Config{}, true, ""},
		{"may, not announced", queuetest.SinkConfig{}, smtpout.Config{}, false, ""},
		{"may, refused", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS, Script: queuetest.Rules(rule(queue.PhaseTLS, "", say("454 no")))},
			smtpout.Config{}, false, ""},
		{"may, handshake breaks", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS,
			Script: queuetest.Rules(rule(queue.PhaseTLS, "", queuetest.Action{Reply: "220 go", Close: true}))}, smtpout.Config{}, false, ""},
		{"may, other name", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, smtpout.Config{ServerName: "x.org"}, true, ""},
		{"none", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, smtpout.Config{TLS: smtpout.TLSNone}, false, ""},
		{"require", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS}, smtpout.Config{TLS: smtpout.TLSRequire}, true, ""},
		{"require, not verified", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS},
			smtpout.Config{TLS: smtpout.TLSRequire, ServerName: "x.org", NoVerify: true}, true, ""},
		{"implicit", queuetest.SinkConfig{TLS: queuetest.SinkImplicitTLS}, smtpout.Config{TLS: smtpout.TLSImplicit}, true, ""},
		{"auth plain", queuetest.SinkConfig{TLS: queuetest.SinkStartTLS, Users: users},
			smtpout.Config{Username: "u", Password: "p\u00e4ss"}, true, "u"},
		{"auth login", queuetest.SinkConfig{TLS: queuetest.SinkImplicitTLS, Users: users, LoginOnly: true},
			smtpout.Config{TLS: smtpout.TLSImplicit, Username: "u", Password: "p\u00e4ss"}, true, "u"},
		{"auth in the clear", queuetest.SinkConfig{Users: users},
			smtpout.Config{Username: "u", Password: "p\u00e4ss", AuthInClear: true}, false, "u"},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			r := newRig(t, tt.sink, tt.c)
			if got := outline(r.send(mail("a@x.org"))); got != "250 dot" {
				t.Fatal(got)
			}
			m := r.sink.Messages()[0]
			if m.TLS != tt.tls || m.User != tt.user || string(m.Raw) != post {
				t.Errorf("tls %v user %q raw %q", m.TLS, m.User, m.Raw)
			}
		})
	}
}

// With credentials, mode may verifies the certificate and never falls back.
func TestNoPasswordForStrangers(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := newRig(t, queuetest.SinkConfig{TLS: queuetest.SinkStartTLS, Users: map[string]string{"u": "p"}},
			smtpout.Config{Username: "u", Password: "p", ServerName: "mail.example.org"})
		_, err := r.pool.Acquire(t.Context())
		if got := failure(err); !strings.HasPrefix(got, "starttls: tls: failed to verify") || r.sink.Stats().Connections != 1 {
			t.Error(got, r.sink.Stats())
		}
	})
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := smtpout.Config{Username: "u", Password: "hunter2"}
	var buf bytes.Buffer
	slog.New(slog.NewTextHandler(&buf, nil)).Info("x", "config", c, "password", c.Password)
	fmt.Fprintf(&buf, "%v %+v %#v %s %q", c, c, c, c.Password, c.Password)
	b, err := json.Marshal(map[string]any{"p": c.Password})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(buf.String()+string(b), "hunter2") {
		t.Error(buf.String(), string(b))
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, c := range []smtpout.Config{
		{}, {Host: "a,"}, {Host: "a b"}, {Host: "a:"}, {Host: "a", TLS: "maybe"}, {Host: "a", MaxConns: -1},
		{Host: "a", Hello: "x y"}, {Host: "a", Password: "p"}, {Host: "a", TLS: smtpout.TLSNone, Username: "u"},
	} {
		if _, err := smtpout.New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		c    smtpout.Config
		want string
	}{
		{smtpout.Config{Host: "a"}, "a:25"},
		{smtpout.Config{Host: "a, b:26 ,[::1],[::1]:27,::2"}, "a:25 b:26 [::1]:25 [::1]:27 [::2]:25"},
		{smtpout.Config{Host: "a", Port: 587}, "a:587"},
		{smtpout.Config{Host: "a", TLS: smtpout.TLSImplicit}, "a:465"},
	} {
		p, err := smtpout.New(tt.c)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, s := range p.States() {
			got = append(got, s.Host)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %v", tt.c.Host, got)
		}
	}
}
