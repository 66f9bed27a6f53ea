package handlers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

const ant = "ant@lists.example.com"

func TestReplyTo(t *testing.T) {
	const other = "other@example.net"
	for _, tc := range []struct {
		name, replyTo, want string
		settings            []string
	}{
		{"nothing", "", "", nil},
		{"kept", "A  <a@x.example>", "A  <a@x.example>", nil},
		{"two become one", "a@x.example\nReply-To: b@x.example", "a@x.example", nil},
		{"stripped", "a@x.example", "", []string{"first_strip_reply_to", "yes"}},
		{"list", "", ant, []string{"reply_goes_to_list", "point_to_list"}},
		{"list with description", "", `"All, about ants" <` + ant + ">", []string{"reply_goes_to_list", "point_to_list", "description", "All, about ants"}},
		{"list last", "A <a@x.example>", `"A" <a@x.example>, ` + ant, []string{"reply_goes_to_list", "point_to_list"}},
		{"list there", "x <ANT@lists.example.com>", "x <ANT@lists.example.com>", []string{"reply_goes_to_list", "point_to_list"}},
		{"list only", "a@x.example", ant, []string{"reply_goes_to_list", "point_to_list", "first_strip_reply_to", "yes"}},
		{"explicit first", "a@x.example", other + ", a@x.example", []string{"reply_goes_to_list", "explicit_header", "reply_to_address", other}},
		{"explicit stripped", "a@x.example", other, []string{"reply_goes_to_list", "explicit_header", "reply_to_address", other, "first_strip_reply_to", "yes"}},
		{"explicit once", "b@x.example, OTHER@example.net", other + ", b@x.example", []string{"reply_goes_to_list", "explicit_header", "reply_to_address", other}},
		{"only", "a@x.example", other, []string{"reply_goes_to_list", "explicit_header_only", "reply_to_address", other}},
		{"only without address", "a@x.example", "a@x.example", []string{"reply_goes_to_list", "explicit_header_only"}},
		{"no address", "nobody in particular", ant, []string{"reply_goes_to_list", "point_to_list"}},
	} {
		head := "From: anne@example.org\n"
		if tc.replyTo != "" {
			head += "Reply-To: " + tc.replyTo + "\n"
		}
		p := liststest.Post(liststest.List(liststest.Members(), tc.settings...), "anne@example.org", head+"\nx\n")
		run(t, p)
		if got := strings.Join(p.Message.All("Reply-To"), "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Where answers go to the list, or where it says, the author of a munged post is in Cc.
func TestReplyToMunged(t *testing.T) {
	for _, tc := range []struct {
		settings []string
		want     string // Reply-To|Cc
	}{
		{nil, "r@x.example, anne@example.org|c@x.example"},
		{[]string{"first_strip_reply_to", "yes"}, "anne@example.org|c@x.example"},
		{[]string{"reply_goes_to_list", "point_to_list"}, "r@x.example, " + ant + "|c@x.example, anne@example.org"},
		{[]string{"reply_goes_to_list", "explicit_header_only", "reply_to_address", "e@x.example"}, "e@x.example|c@x.example, anne@example.org"},
		{[]string{"reply_goes_to_list", "explicit_header", "reply_to_address", "e@x.example"}, "e@x.example, r@x.example|c@x.example, anne@example.org"},
	} {
		settings := append(tc.settings, "dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes")
		p := liststest.Post(liststest.List(liststest.Members(), settings...), "anne@example.org",
			"From: anne@example.org\nReply-To: r@x.example\nCc: c@x.example\n\nx\n")
		run(t, p)
		if got := p.Message.Get("Reply-To") + "|" + p.Message.Get("Cc"); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.settings, got, tc.want)
		}
	}
}

const personal = `Return-Path: <anne@secret.example>
Received: from annes-laptop.secret.example ([192.0.2.7]) by mx
Delivered-To: ant@lists.example.com
DKIM-Signature: v=1; d=secret.example; s=x; b=AAAA
ARC-Seal: i=1; d=secret.example
Authentication-Results: mx; dkim=pass header.d=secret.example
From: Anne Person <anne@secret.example>
Sender: anne@secret.example
Reply-To: anne2@secret.example
To: ant@lists.example.com, Anne <anne@secret.example>, bart@example.org
Cc: anne2@secret.example
Subject: hello
Date: Mon, 01 Jan 2024 10:00:00 +0530
Message-ID: <1@secret.example>
In-Reply-To: <2@secret.example>
References: <trace0@lists.example.com> <2@secret.example>
Organization: Secret Ltd
User-Agent: AnnesMailer/1.0
X-Originating-IP: 192.0.2.7
X-Anything: anne
Face: aaaa
Autocrypt: addr=anne@secret.example
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

hello
`

func TestAnonymous(t *testing.T) {
	l := liststest.List(liststest.Members(), "anonymous_list", "yes", "dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes", "description", "Ants")
	p := liststest.Post(l, "anne@secret.example", personal)
	p.Authority, p.Checked = &authority{}, "x; dkim=pass header.d=secret.example"
	run(t, p)
	for _, m := range []*message.Message{p.Message, p.Archive, p.Digest} {
		text := strings.ToLower(string(m.Wire()))
		for _, word := range []string{"anne", "secret", "192.0.2.7", "+0530", "organization", "x-anything", "face:"} {
			if strings.Contains(text, word) {
				t.Errorf("%q is left in\n%s", word, text)
			}
		}
	}
	m := p.Message
	for name, want := range map[string]string{
		"From": `"Ants" <` + ant + ">", "Reply-To": ant, "To": "ant@lists.example.com, bart@example.org", "Cc": "", "Subject": "hello",
		"Date": "Mon, 01 Jan 2024 04:30:00 +0000", "Message-ID": "<trace1@lists.example.com>", "In-Reply-To": "", "References": "<trace0@lists.example.com>",
		"Content-Type": "text/plain; charset=utf-8",
	} {
		if d := cmp.Diff(want, m.Get(name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if p.Checked != "" {
		t.Errorf("would seal %q", p.Checked)
	}
}

func TestTopics(t *testing.T) {
	members := liststest.Members()
	members[0].Prefs = map[string]string{"topics": "queens"}                                           // anne
	members[1].Prefs = map[string]string{"topics": "Food, nests", "receive_nonmatching_topics": "yes"} // bart
	members[2].Prefs = map[string]string{"topics": "food"}                                             // dora
	const topics = "queens: \\bqueen\nfood: sugar|honey\nfood: ^leaf\n"
	for _, tc := range []struct{ text, field, want string }{
		{"Subject: x\n\nhello", "", "bart emil+tag"},
		{"Subject: The Queen's\n\nhello", "queens", "anne emil+tag"},
		{"Subject: Honey for =?utf-8?q?queen?=\n\nhello", "queens, food", "anne bart dora emil+tag"},
		{"Subject: x\nKeywords: leaf\nX-Topics: queens\n\nhello", "food", "bart dora emil+tag"},
		{"Subject: x\n\n\nKeywords: honey\nhello", "food", "bart dora emil+tag"},
		{"Subject: x\n\nhello\nKeywords: honey\n", "", "bart emil+tag"},
	} {
		p := liststest.Post(liststest.List(members, "topics_enabled", "yes", "topics", topics), "x@y.org", "From: x@y.org\n"+tc.text)
		run(t, p)
		if got := names(p); got != tc.want || p.Message.Get("X-Topics") != tc.field {
			t.Errorf("%q: %s; %q", tc.text, got, p.Message.Get("X-Topics"))
		}
	}
	p := liststest.Post(liststest.List(members, "topics", topics), "x@y.org", "From: x@y.org\nX-Topics: mine\n\nx")
	if run(t, p); names(p) != "anne bart dora emil+tag" || p.Message.Get("X-Topics") != "mine" {
		t.Errorf("without topics: %s", names(p))
	}
}
