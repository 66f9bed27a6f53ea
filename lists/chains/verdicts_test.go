package chains_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.golden")

// verdictCase is a message and the settings of the list it goes to. raw stands behind
// "From: anne", "To: ant", unless it brings these itself.
type verdictCase struct {
	name     string
	settings []string
	sender   mailaddr.Address // "" = anne, "<>" = null
	raw      string
}

func from(f string) string { return "From: " + f + "\nTo: ant@lists.example.com\nSubject: hi\n" }

func body(text string) string { return head + "\n" + text }

func policyCases() []verdictCase {
	zed := from("zed@example.net") + "\nhello\n"
	return []verdictCase{
		{"member", nil, "", body("hello")},
		{"member, other case", nil, "", from("ANNE@Example.ORG") + "\nx"},
		{"member, sub-address is another address", nil, "", from("anne+x@example.org") + "\nx"},
		{"member with a plus", nil, "", from("emil+tag@example.org") + "\nx"},
		{"digest member", nil, "", from("cris@example.com") + "\nx"},
		{"moderator is no member", nil, "", from("mona@example.org") + "\nx"},
		{"stranger", nil, "zed@example.net", zed},
		{"stranger, open list", []string{"default_nonmember_action", "accept"}, "zed@example.net", zed},
		{"stranger, deferred", []string{"default_nonmember_action", "defer"}, "zed@example.net", zed},
		{"stranger, rejected", []string{"default_nonmember_action", "reject"}, "zed@example.net", zed},
		{"stranger, discarded", []string{"default_nonmember_action", "discard"}, "zed@example.net", zed},
		{"stranger by pattern", []string{"accept_these_nonmembers", "^.*@example\\.net$"}, "zed@example.net", zed},
		{"stranger by pattern, discard", []string{"discard_these_nonmembers", "^zed@"}, "zed@example.net", zed},
		{"pattern order", []string{"hold_these_nonmembers", "^zed@", "accept_these_nonmembers", "^zed@"}, "zed@example.net", zed},
		{"moderated list", []string{"default_member_action", "hold"}, "", body("x")},
		{"rejecting list", []string{"default_member_action", "reject"}, "", body("x")},
		{"announce style", []string{"style", "legacy-announce"}, "", body("x")},
		{"announce style, stranger", []string{"style", "legacy-announce"}, "zed@example.net", zed},
		{"announce only", []string{"allow_list_posts", "no"}, "", body("x")},
		{"emergency", []string{"emergency", "yes"}, "", body("x")},
		{"ban", []string{"ban_list", "anne@example.org"}, "", body("x")},
		{"site ban", []string{"site_ban_list", "^.*@example\\.org$"}, "", body("x")},
		{"ban of Reply-To", []string{"ban_list", "zed@example.net"}, "", "Reply-To: zed@example.net\n" + body("x")},
		{"password", []string{"moderator_password", "s3cret", "emergency", "yes"}, "zed@example.net", "X-Approved: s3cret\n" + zed},
		{"password, wrong", []string{"moderator_password", "s3cret"}, "zed@example.net", "Approved: secret\n" + zed},
		{"password beats a ban", []string{"moderator_password", "s3cret", "ban_list", "^.*"}, "zed@example.net", from("zed@example.net") + "\nApproved: s3cret\nhello\n"},
		{"password twice", []string{"moderator_password", "s3cret"}, "", body("Approved: s3cret\nit is s3cret\n")},
		{"spam flag", nil, "", "X-Spam-Flag: YES\n" + body("x")},
		{"spam flag, no", nil, "", "X-Spam-Flag: NO\n" + body("x")},
		{"header match", []string{"header_matches", "reject Subject: (?:viagra|casino)"}, "", "From: anne@example.org\nTo: ant@lists.example.com\nSubject: =?utf-8?B?Q0FTSU5P?=\n\nx"},
		{"header match, defer", []string{"header_matches", "defer X-Good: yes\ndiscard Subject: hi"}, "", "X-Good: yes\n" + body("x")},
		{"DMARC reject", []string{"dmarc_mitigate_action", "reject"}, "a@strict.example", from("a@strict.example") + "\nx"},
		{"DMARC munge", []string{"dmarc_mitigate_action", "munge_from"}, "a@strict.example", from("a@strict.example") + "\nx"},
		{"rate", []string{"max_posts_per_sender", "3"}, "", body("x")},
		{"two authors, one a stranger", nil, "", from("anne@example.org, zed@example.net") + "\nx"},
		{"two From fields, one a stranger", nil, "", "From: zed@example.net\n" + body("x")},
		{"two members", nil, "", from("anne@example.org, bart@example.org") + "\nx"},
	}
}

func contentCases() []verdictCase {
	many := strings.TrimSuffix(strings.Repeat("a@b.org, ", 5000), ", ")
	return []verdictCase{
		{"report", nil, "<>", body("x")},
		{"loop", nil, "", "X-BeenThere: ant@lists.example.com\n" + body("x")},
		{"our List-Id", nil, "", "List-Id: <ant.lists.example.com>\n" + body("x")},
		{"hundred hops", nil, "", strings.Repeat("Received: x\n", 100) + body("x")},
		{"vacation", nil, "", "Auto-Submitted: auto-replied\n" + body("I am away")},
		{"cron", nil, "", "Auto-Submitted: auto-generated\n" + body("report")},
		{"command in the subject", nil, "", strings.Replace(body("x"), ": hi", ": unsubscribe", 1)},
		{"command in the text", nil, "", body("\nsubscribe\n")},
		{"Bcc", nil, "", "From: anne@example.org\nTo: x@y.org\nSubject: hi\n\nx"},
		{"Cc", nil, "", "From: anne@example.org\nTo: x@y.org\nCc: ANT@LISTS.EXAMPLE.COM\nSubject: hi\n\nx"},
		{"in a group", nil, "", "From: anne@example.org\nTo: lists: ant@lists.example.com;\nSubject: hi\n\nx"},
		{"ten recipients", nil, "", "Cc: " + strings.TrimSuffix(strings.Repeat("a@b.org, ", 9), ", ") + "\n" + body("x")},
		{"five thousand recipients", nil, "", "Cc: " + many + "\n" + body("x")},
		{"too large", []string{"max_message_size", "40"}, "", body(strings.Repeat("x", 41<<10))},
		{"no subject", []string{"require_subject", "yes"}, "", "From: anne@example.org\nTo: ant@lists.example.com\n\nx"},
		{"no subject, nobody minds", nil, "", "From: anne@example.org\nTo: ant@lists.example.com\n\nx"},
		{"digest quoted", []string{"hold_digest", "yes"}, "", strings.Replace(body("x"), ": hi", ": Re: Ant Digest, Vol 12, Issue 3", 1)},
		{"suspicious", []string{"style", "legacy-default"}, "", "Message-ID: <1@relay.comanche.denmark.eu>\n" + body("x")},
		{"three deferred hits", nil, "", "From: anne@example.org\nTo: " + strings.Repeat("a@b.org, ", 9) + "c@b.org\nSubject: help\n\nx"},
	}
}

func oddCases() []verdictCase {
	return []verdictCase{
		{"no From", nil, "", "To: ant@lists.example.com\nSubject: hi\n\nx"},
		{"no From, open list", []string{"default_nonmember_action", "accept"}, "", "To: ant@lists.example.com\nSubject: hi\n\nx"},
		{"no sender at all", []string{"sender_headers", "from reply-to"}, "", "To: ant@lists.example.com\nSubject: hi\n\nx"},
		{"From is no address", nil, "", from("undisclosed") + "\nx"},
		{"From is an empty group", nil, "", from("undisclosed-recipients:;") + "\nx"},
		{"From is a group", nil, "", from("We: anne@example.org;") + "\nx"},
		{"From has an empty path", nil, "", from("<>") + "\nx"},
		{"comments", nil, "", from("(the) anne@example.org (Anne)") + "\nx"},
		{"quoted local part", nil, "", from(`"zed, z"@example.net`) + "\nx"},
		{"raw 8-bit name", nil, "", from("J\xfcrgen <anne@example.org>") + "\nx"},
		{"encoded comma in the name", nil, "", from("=?utf-8?q?Zed,_zed=40example.net?= <anne@example.org>") + "\nx"},
		{"address in the name", nil, "", from(`"anne@example.org" <zed@example.net>`) + "\nx"},
		{"two paths", nil, "", from("<anne@example.org> <zed@example.net>") + "\nx"},
		{"IDN", nil, "", from("zed@b\u00fccher.example") + "\nx"},
		{"date that is none", nil, "", "Date: yesterday, perhaps\n" + body("x")},
		{"folded and blank", nil, "", "From:\n anne@example.org\nTo:\n\tant@lists.example.com\nSubject: hi\n\nx"},
		{"no header", nil, "", "\nx"},
		{"nothing", nil, "", ""},
		{"a megabyte of header", nil, "", "X-A: " + strings.Repeat("a ", 1<<19) + "\n" + body("x")},
		{"a megabyte of fields", nil, "", strings.Repeat("X-A: b\n", 1<<17) + body("x")},
		{"NUL", nil, "", body("a\x00b")},
	}
}

// strict is a world in which one domain publishes a DMARC policy.
type strict struct{}

func (strict) Policy(_ context.Context, domain string) (lists.DMARCPolicy, error) {
	if domain == "strict.example" {
		return lists.DMARCReject, nil
	}
	return lists.DMARCNone, nil
}

func TestVerdicts(t *testing.T) {
	cases := append(append(policyCases(), contentCases()...), oddCases()...)
	var b strings.Builder
	for _, tc := range cases {
		sender := tc.sender
		switch sender {
		case "":
			sender = "anne@example.org"
		case "<>":
			sender = ""
		}
		p := liststest.Post(liststest.List(liststest.Members(), tc.settings...), sender, tc.raw)
		p.DMARC, p.Recent = strict{}, func(string) int { return 3 }
		v, err := chains.Judge(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		fmt.Fprintf(&b, "%-40s %-8s %s\n", tc.name, v.Action, v)
	}
	if *update {
		if err := os.WriteFile("testdata/verdicts.golden", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/verdicts.golden")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
	if len(cases) < 60 {
		t.Errorf("%d cases", len(cases))
	}
}

// A setting that cannot be read stops nothing: a person decides.
func TestUnreadableSettings(t *testing.T) {
	for name, value := range map[string]string{
		"ban_list": "^(", "header_matches": "nowhere Subject: x", "header_checks": "no colon", "accept_these_nonmembers": "@nolist",
		"bounce_matching_headers": "Subject: [", "acceptable_aliases": "^(",
	} {
		l := liststest.List(nil)
		l.Settings = lists.Resolve(lists.Level{Name: "an older version", Values: map[string]string{name: value, "default_nonmember_action": "defer"}})
		p := liststest.Post(l, "zed@example.net", "From: zed@example.net\nTo: x@y.org\nSubject: x\n\nx")
		v, err := chains.Judge(t.Context(), p)
		if err != nil || v.Action != lists.ActionHold || !strings.Contains(v.Reason, "setting "+name) {
			t.Errorf("%s: %s (%v), %v", name, v.Action, v, err)
		}
	}
}

func TestExplain(t *testing.T) {
	l := liststest.List(liststest.Members(), "max_message_size", "1")
	p := liststest.Post(l, "anne@example.org", body("help\n"+strings.Repeat("x", 2000)))
	v, err := chains.Judge(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range chains.Explain(p.Target, v) {
		if s.Hit {
			got += fmt.Sprintf("%s %s; ", s.Rule, s.Action)
		}
		if !s.Asked && s.Rule != "truth" {
			t.Errorf("rule %s was not asked", s.Rule)
		}
	}
	if want := "administrivia defer; max-size defer; any hold; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChainsAreThere(t *testing.T) {
	for _, c := range chains.Table {
		if c.Doc == "" || len(c.Rules) == 0 && c.Action == "" {
			t.Errorf("%+v", c)
		}
		for _, r := range c.Rules {
			if _, ok := chains.Find(r.Chain); r.Chain != "" && !ok {
				t.Errorf("rule %s leads to %q", r.Name, r.Chain)
			}
		}
	}
}

// The manual has the rules in their order, and every chain.
func TestManual(t *testing.T) {
	raw, err := os.ReadFile("../../docs/posting-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	at := 0
	for _, r := range chains.For(lists.Target{}).Rules {
		i := strings.Index(text[at:], "\n| "+r.Name+" ")
		if i < 0 {
			t.Fatalf("rule %s is not in its place", r.Name)
		}
		at += i
	}
	for _, c := range chains.Table {
		if c.Name != "default-posting-chain" && !strings.Contains(text, "*"+c.Name+"*") {
			t.Errorf("chain %s is missing", c.Name)
		}
	}
}
