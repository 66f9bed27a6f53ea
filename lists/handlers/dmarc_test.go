package handlers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

// domains is a world in which domains publish policies; "?" cannot be found out.
type domains map[string]lists.DMARCPolicy

func (d domains) Policy(_ context.Context, domain string) (lists.DMARCPolicy, error) {
	if d[domain] == "?" {
		return "", errors.New("SERVFAIL")
	}
	return d[domain], nil
}

func TestDMARCWhen(t *testing.T) {
	world := domains{"strict.example": lists.DMARCReject, "quarantine.example": lists.DMARCQuarantine, "none.example": lists.DMARCNone, "silent.example": "?"}
	for _, tc := range []struct {
		from     string
		settings []string
		munged   bool
	}{
		{"a@strict.example", nil, false},
		{"a@strict.example", []string{"dmarc_mitigate_action", "munge_from"}, true},
		{"a@quarantine.example", []string{"dmarc_mitigate_action", "munge_from"}, true},
		{"a@none.example", []string{"dmarc_mitigate_action", "munge_from"}, false},
		{"a@other.example", []string{"dmarc_mitigate_action", "munge_from"}, false},
		{"a@silent.example", []string{"dmarc_mitigate_action", "munge_from"}, true},
		{"a@none.example, b@strict.example", []string{"dmarc_mitigate_action", "munge_from"}, true},
		{"a@none.example", []string{"dmarc_mitigate_action", "munge_from", "dmarc_addresses", "^.*@none[.]example$"}, true},
		{"a@none.example", []string{"dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes"}, true},
		{"a@none.example", []string{"dmarc_mitigate_unconditionally", "yes"}, false},
		{"a@strict.example", []string{"dmarc_mitigate_action", "reject"}, false},
		{"nobody", []string{"dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes"}, false},
	} {
		p := liststest.Post(liststest.List(liststest.Members(), tc.settings...), "a@strict.example", "From: "+tc.from+"\n\nx\n")
		p.DMARC = world
		run(t, p)
		if got := p.Message.Get("From") != tc.from; got != tc.munged {
			t.Errorf("%s, %v: From: %s", tc.from, tc.settings, p.Message.Get("From"))
		}
	}
}

func TestMungeFrom(t *testing.T) {
	members := liststest.Members()
	members[0].Name = "Anne Person"
	for _, tc := range []struct{ header, from, replyTo, cc string }{
		{"From: Bart <bart@example.org>", `"Bart via Ant" <ant@lists.example.com>`, `"Bart" <bart@example.org>`, ""},
		{`From: "Person, Bart \"Bob\"" <bart@example.org>`, `"Person, Bart \"Bob\" via Ant" <ant@lists.example.com>`, `"Person, Bart \"Bob\"" <bart@example.org>`, ""},
		{"From: =?utf-8?q?B=C3=A4rt=2C_x?= <bart@example.org>", "=?utf-8?b?QsOkcnQsIHggdmlhIEFudA==?= <ant@lists.example.com>", "=?utf-8?b?QsOkcnQsIHg=?= <bart@example.org>", ""},
		{"From: =?utf-8?q?x=0D=0ABcc:_y?= <bart@example.org>", `"x Bcc: y via Ant" <ant@lists.example.com>`, `"x  Bcc: y" <bart@example.org>`, ""},
		{"From: anne@example.org", `"Anne Person via Ant" <ant@lists.example.com>`, "anne@example.org", ""},
		{"From: bart@example.org", `"bart via Ant" <ant@lists.example.com>`, "bart@example.org", ""},
		{`From: "bart@example.org" <bart@example.org>`, `"bart via Ant" <ant@lists.example.com>`, `"bart@example.org" <bart@example.org>`, ""},
		{"From: bart@example.org\nReply-To: other@example.org", `"bart via Ant" <ant@lists.example.com>`, "other@example.org, bart@example.org", ""},
		{"From: bart@example.org\nReply-To: BART@example.org", `"bart via Ant" <ant@lists.example.com>`, "BART@example.org", ""},
		{"From: bart@example.org\nReply-To: Ant@lists.example.com", `"bart via Ant" <ant@lists.example.com>`, "Ant@lists.example.com", "bart@example.org"},
		{"From: a@x.example, B <b@x.example>", `"a via Ant" <ant@lists.example.com>`, `a@x.example, "B" <b@x.example>`, ""},
	} {
		l := liststest.List(members, "dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes")
		p := liststest.Post(l, "bart@example.org", tc.header+"\n\nx\n")
		run(t, p)
		m := message.Parse(p.Message.Wire())
		got := []string{m.Get("From"), m.Get("Reply-To"), m.Get("Cc")}
		if d := cmp.Diff([]string{tc.from, tc.replyTo, tc.cc}, got); d != "" {
			t.Errorf("%s: %s", tc.header, d)
		}
		if n := len(m.Mailboxes("From")); n != 1 {
			t.Errorf("%s: %d authors in %s", tc.header, n, m.Get("From"))
		}
	}
}

// authority notes when it is asked.
type authority struct{ log []string }

func (a *authority) Check(_ context.Context, p *lists.Post) error {
	a.log = append(a.log, "check "+p.Message.Get("Subject"))
	return nil
}

func (*authority) Aligned(context.Context, *lists.Post, string) (bool, error) { return false, nil }

func (a *authority) Sign(_ context.Context, p *lists.Post) error {
	a.log = append(a.log, "sign "+p.Message.Get("Subject"))
	return nil
}

// Signatures are looked at before anything is changed, and made after everything.
func TestAuthorityOrder(t *testing.T) {
	a := &authority{}
	p := liststest.Post(liststest.List(liststest.Members(), "subject_prefix", "[Ant]"), "anne@example.org", "From: anne@example.org\nSubject: x\n\ny\n")
	p.Authority = a
	run(t, p)
	if d := cmp.Diff([]string{"check x", "sign [Ant] x"}, a.log); d != "" {
		t.Error(d)
	}
	first, last := handlers.Posting[0].Name, handlers.Posting[len(handlers.Posting)-1].Name
	if first != "validate-authenticity" || last != "sign" {
		t.Errorf("%s ... %s", first, last)
	}
}
