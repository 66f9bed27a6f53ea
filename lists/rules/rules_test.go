package rules_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/rules"
)

const plain = "From: Anne <anne@example.org>\nTo: ant@lists.example.com\nSubject: hi\n\nhello\n"

func find(t *testing.T, table []rules.Rule, name string) rules.Rule {
	t.Helper()
	i := slices.IndexFunc(table, func(r rules.Rule) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no rule %s", name)
	}
	return table[i]
}

func with(people ...lists.Member) []lists.Member { return append(liststest.Members(), people...) }

func changed(who mailaddr.Address, action lists.Action) []lists.Member {
	ms := liststest.Members()
	for i := range ms {
		if ms[i].Address == who {
			ms[i].Action = action
		}
	}
	return ms
}

type ruleCase struct {
	rule, name string
	members    []lists.Member
	settings   []string
	sender     mailaddr.Address // "" = anne
	raw        string           // "" = plain
	want       string           // "": a miss; else "action: part of the reason", action "-" if the table decides
}

func TestRules(t *testing.T) {
	for _, tc := range slices.Concat(senderCases(), moderationCases(), contentCases(t)) {
		t.Run(tc.rule+"/"+tc.name, func(t *testing.T) {
			if tc.members == nil {
				tc.members = liststest.Members()
			}
			if tc.raw == "" {
				tc.raw = plain
			}
			sender := tc.sender
			switch sender {
			case "":
				sender = "anne@example.org"
			case "<>":
				sender = ""
			}
			p := liststest.Post(liststest.List(tc.members, tc.settings...), sender, tc.raw)
			before := string(p.Message.Bytes())
			h, err := find(t, rules.Posting, tc.rule).Check(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			if string(p.Message.Bytes()) != before {
				t.Error("the rule changed the message")
			}
			got := ""
			if h != nil {
				got = string(h.Action) + ": " + h.Reason
				if h.Action == "" {
					got = "-: " + h.Reason
				}
			}
			if (tc.want == "") != (got == "") || !strings.HasPrefix(got, strings.SplitN(tc.want, ":", 2)[0]) || !strings.Contains(got, tc.want[strings.Index(tc.want, ":")+1:]) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func senderCases() []ruleCase {
	return []ruleCase{
		{rule: "null-sender", name: "null", sender: "<>", want: "-: empty"},
		{rule: "null-sender", name: "somebody"},
		{rule: "no-senders", name: "From"},
		{rule: "no-senders", name: "none", raw: "To: ant@lists.example.com\n\n", want: "-: From"},
		{rule: "no-senders", name: "undisclosed", raw: "From: undisclosed\n\n", want: "-: From"},
		{rule: "no-senders", name: "empty path", raw: "From: <>\n\n", want: "-: From"},
		{rule: "no-senders", name: "half", raw: "From: zed@\n\n", want: "-: From"},
		{rule: "no-senders", name: "junk", raw: "From: a b@c d\n\n", want: "-: From"},
		{rule: "no-senders", name: "Reply-To does not help", raw: "Reply-To: anne@example.org\n\n", want: "-: From"},
		{rule: "banned-address", name: "nobody"},
		{rule: "banned-address", name: "From", settings: []string{"ban_list", "x@y.org\nANNE@example.org"}, want: "-: anne@example.org"},
		{rule: "banned-address", name: "pattern", settings: []string{"ban_list", "^.*@EXAMPLE\\.org$"}, want: "-: banned"},
		{rule: "banned-address", name: "envelope", settings: []string{"ban_list", "zed@example.net"}, sender: "zed@example.net", want: "-: zed"},
		{rule: "banned-address", name: "others", settings: []string{"ban_list", "zed@example.net"}},
	}
}

func moderationCases() []ruleCase {
	from := func(f string) string { return "From: " + f + "\nTo: ant@lists.example.com\n\nx\n" }
	return []ruleCase{
		{rule: "member-moderation", name: "defer"},
		{rule: "member-moderation", name: "default", settings: []string{"default_member_action", "hold"}, want: "hold: anne"},
		{rule: "member-moderation", name: "own", members: changed("anne@example.org", lists.ActionDiscard), want: "discard: anne"},
		{rule: "member-moderation", name: "own defer", members: changed("anne@example.org", lists.ActionDefer), settings: []string{"default_member_action", "hold"}},
		{rule: "member-moderation", name: "accept", members: changed("anne@example.org", lists.ActionAccept), want: "accept: anne"},
		{rule: "member-moderation", name: "accept for one only", members: changed("anne@example.org", lists.ActionAccept), raw: from("anne@example.org, bart@example.org")},
		{rule: "member-moderation", name: "accept beside a stranger", members: changed("anne@example.org", lists.ActionAccept), raw: from("anne@example.org, zed@example.net")},
		{rule: "member-moderation", name: "severest", members: changed("bart@example.org", lists.ActionReject), raw: from("anne@example.org, bart@example.org"), want: "reject: bart"},
		{rule: "member-moderation", name: "case", members: changed("anne@example.org", lists.ActionHold), raw: from("ANNE@EXAMPLE.ORG"), want: "hold: ANNE"},
		{rule: "nonmember-moderation", name: "member"},
		{rule: "nonmember-moderation", name: "stranger", raw: from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "Reply-To makes nobody a member", raw: "Reply-To: anne@example.org\nSender: bart@example.org\n" + from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "Sender is not looked at", raw: "Sender: zed@example.net\n" + from("anne@example.org")},
		{rule: "nonmember-moderation", name: "two authors", raw: from("anne@example.org, zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "two From fields", raw: "From: anne@example.org\n" + from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "unreadable beside a member", raw: from("anne@example.org, a b@c"), want: "hold: unreadable"},
		{rule: "nonmember-moderation", name: "envelope", sender: "zed@example.net"},
		{rule: "nonmember-moderation", name: "envelope counts", sender: "zed@example.net", settings: []string{"moderate_envelope_sender", "yes"}, want: "hold: zed"},
		{rule: "nonmember-moderation", name: "record", members: with(lists.Member{Address: "zed@example.net", Role: lists.RoleNonmember, Action: lists.ActionAccept}), raw: from("zed@example.net"), want: "accept: zed"},
		{rule: "nonmember-moderation", name: "record without action", members: with(lists.Member{Address: "zed@example.net", Role: lists.RoleNonmember}), raw: from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "accepted", settings: []string{"accept_these_nonmembers", "^zed@"}, raw: from("zed@example.net"), want: "accept: zed"},
		{rule: "nonmember-moderation", name: "accept beside a member", settings: []string{"accept_these_nonmembers", "^zed@"}, raw: from("anne@example.org, zed@example.net")},
		{rule: "nonmember-moderation", name: "discarded", settings: []string{"discard_these_nonmembers", "zed@example.net"}, raw: from("zed@example.net"), want: "discard: zed"},
		{rule: "nonmember-moderation", name: "open list", settings: []string{"default_nonmember_action", "defer"}, raw: from("zed@example.net")},
	}
}

func contentCases(t *testing.T) []ruleCase {
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	head := "From: anne@example.org\nTo: ant@lists.example.com\nSubject: hi\n"
	return []ruleCase{
		{rule: "approved", name: "no password set", raw: "Approved: \n" + plain},
		{rule: "approved", name: "right", settings: []string{"moderator_password", "s3cret"}, raw: "Approved: s3cret\n" + plain, want: "-: Approved"},
		{rule: "approved", name: "other header, hash", settings: []string{"moderator_password", string(hash)}, raw: "x-approve: s3cret\n" + plain, want: "-: X-Approve"},
		{rule: "approved", name: "wrong", settings: []string{"moderator_password", "s3cret"}, raw: "Approved: S3cret\n" + plain},
		{rule: "approved", name: "the hash is no password", settings: []string{"moderator_password", string(hash)}, raw: "Approved: " + string(hash) + "\n" + plain},
		{rule: "approved", name: "first line", settings: []string{"moderator_password", "s3cret"}, raw: head + "\n\n Approved:  s3cret \nhello\n", want: "-: first line"},
		{rule: "approved", name: "first line, encoded", settings: []string{"moderator_password", "s3cret"}, raw: head + "Content-Transfer-Encoding: base64\n\nQXBwcm92ZTogczNjcmV0Cg==\n", want: "-: first line"},
		{rule: "approved", name: "second line", settings: []string{"moderator_password", "s3cret"}, raw: head + "\nhello\nApproved: s3cret\n"},
		{rule: "approved", name: "wrong in the first line", settings: []string{"moderator_password", "s3cret"}, raw: head + "\nApproved: other\n"},
		{rule: "approved", name: "still to be read", settings: []string{"moderator_password", "s3cret"}, raw: head + "\nApproved: s3cret\nas I said, s3cret\n", want: "reject: cannot be removed"},
		{rule: "approved", name: "a sentence", settings: []string{"moderator_password", "s3cret"}, raw: head + "\nApproved: yes\nyes, they did\n"},
		{rule: "loop", name: "first time", raw: "Delivered-To: ant@lists.example.com\nList-Post: <mailto:ant@lists.example.com>\nX-BeenThere: bee@lists.example.com\n" + plain},
		{rule: "loop", name: "X-BeenThere", raw: "X-BeenThere: bee@x.org\nX-BeenThere: Ant@lists.example.com\n" + plain, want: "-: X-BeenThere"},
		{rule: "loop", name: "List-Id", raw: "List-Id: An \"<a>\" list <ANT.lists.example.com>\n" + plain, want: "-: List-Id"},
		{rule: "loop", name: "List-Id of a list that looks alike", raw: "X-BeenThere: ant.lists@example.com\nList-Id: <ant.lists.example.com>\n" + plain},
		{rule: "loop", name: "99 hops", raw: strings.Repeat("Received: x\n", 99) + plain},
		{rule: "loop", name: "100 hops", raw: strings.Repeat("Received: x\n", 100) + plain, want: "-: hundred"},
		{rule: "header-match", name: "none"},
		{rule: "header-match", name: "own action", settings: []string{"header_matches", "discard X-Spam: ^yes\nhold Subject: hi"}, raw: "X-Spam: YES, it is\n" + plain, want: "discard: X-Spam"},
		{rule: "header-match", name: "default action", settings: []string{"header_matches", "Subject: hi"}, want: "-: Subject"},
		{rule: "header-match", name: "defer ends the search", settings: []string{"header_matches", "defer Subject: hi\nhold Subject: h"}},
		{rule: "header-match", name: "raw text of an unknown charset", settings: []string{"header_matches", "hold Subject: klingon"}, raw: "Subject: =?x-klingon-7?B?dGVzdA==?=\n\n", want: "hold: Subject"},
		{rule: "header-match", name: "decoded text", settings: []string{"header_matches", "hold Subject: ^spam"}, raw: "Subject: =?utf-8?q?sp=61m?=\n\n", want: "hold: Subject"},
		{rule: "suspicious-header", name: "hit", settings: []string{"bounce_matching_headers", "From: anne"}, want: "-: From"},
		{rule: "suspicious-header", name: "miss", settings: []string{"bounce_matching_headers", "From: ^zed"}},
		{rule: "emergency", name: "off"},
		{rule: "emergency", name: "on", settings: []string{"emergency", "yes"}, want: "-: emergency"},
		{rule: "administrivia", name: "text"},
		{rule: "administrivia", name: "subject", raw: "Subject: Unsubscribe\n\nhello", want: "-: subject"},
		{rule: "administrivia", name: "line", raw: head + "\nhello\n\n  help  \n", want: "-: help"},
		{rule: "administrivia", name: "base64", raw: head + "Content-Transfer-Encoding: base64\n\naGVscAo=\n", want: "-: help"},
		{rule: "administrivia", name: "a sentence", raw: head + "\nhelp me please\nsubscribe to this and that and more\n"},
		{rule: "administrivia", name: "late", raw: head + "\n" + strings.Repeat("x\n", 10) + "help\n"},
		{rule: "administrivia", name: "off", settings: []string{"administrivia", "no"}, raw: "Subject: help\n\n"},
		{rule: "implicit-dest", name: "To"},
		{rule: "implicit-dest", name: "Cc, other case", raw: "Cc: x@y.org, \"Ant\" <ANT@Lists.Example.com>\n\n"},
		{rule: "implicit-dest", name: "Bcc", raw: "To: x@y.org\n\n", want: "-: ant@lists.example.com"},
		{rule: "implicit-dest", name: "alias", settings: []string{"acceptable_aliases", "^.*@old\\.example\\.com$"}, raw: "To: ant@old.example.com\n\n"},
		{rule: "implicit-dest", name: "off", settings: []string{"require_explicit_destination", "no"}, raw: "To: x@y.org\n\n"},
		{rule: "max-recipients", name: "nine", raw: "To: " + strings.Repeat("a@b.org, ", 9) + "\n\n"},
		{rule: "max-recipients", name: "ten", raw: "To: " + strings.Repeat("a@b.org, ", 5) + "\nCc: " + strings.Repeat("a@b.org, ", 5) + "\n\n", want: "-: 10"},
		{rule: "max-recipients", name: "no limit", settings: []string{"max_num_recipients", "0"}, raw: "To: " + strings.Repeat("a@b.org, ", 99) + "\n\n"},
		{rule: "max-size", name: "at the limit", settings: []string{"max_message_size", "1"}, raw: "A: b\r\n\r\n" + strings.Repeat("x", 1016)},
		{rule: "max-size", name: "over", settings: []string{"max_message_size", "1"}, raw: "A: b\r\n\r\n" + strings.Repeat("x", 1017), want: "-: 2 KiB, more than 1"},
		{rule: "max-size", name: "no limit", settings: []string{"max_message_size", "0"}, raw: strings.Repeat("x", 1<<16)},
		{rule: "no-subject", name: "not asked for", raw: "From: anne@example.org\n\n"},
		{rule: "no-subject", name: "missing", settings: []string{"require_subject", "yes"}, raw: "From: anne@example.org\n\n", want: "-: no subject"},
		{rule: "no-subject", name: "blank", settings: []string{"require_subject", "yes"}, raw: "Subject: =?utf-8?q?_?=\n\n", want: "-: no subject"},
		{rule: "no-subject", name: "there", settings: []string{"require_subject", "yes"}},
		{rule: "digests", name: "off", raw: "Subject: Re: Ant Digest, Vol 3, Issue 4\n\n"},
		{rule: "digests", name: "subject", settings: []string{"hold_digest", "yes"}, raw: "Subject: Re: Ant Digest, Vol 3, Issue 4\n\n", want: "-: subject"},
		{rule: "digests", name: "quoted", settings: []string{"hold_digest", "yes"}, raw: head + "\n" + strings.Repeat("> "+strings.Repeat("-", 30)+"\n", 4), want: "-: quotes"},
		{rule: "digests", name: "a line or two", settings: []string{"hold_digest", "yes"}, raw: head + "\n" + strings.Repeat(strings.Repeat("-", 30)+"\n", 3)},
	}
}

func TestEveryRuleHasCases(t *testing.T) {
	cases := slices.Concat(senderCases(), moderationCases(), contentCases(t))
	for _, r := range rules.Posting {
		if r.Name == "any" || r.Name == "truth" { // lists/chains tests these
			continue
		}
		for _, want := range []bool{true, false} {
			if !slices.ContainsFunc(cases, func(c ruleCase) bool { return c.rule == r.Name && (c.want != "") == want }) {
				t.Errorf("rule %s: no case with hit=%v", r.Name, want)
			}
		}
		if r.Doc == "" || r.Action == "" {
			t.Errorf("rule %s: no doc or action", r.Name)
		}
	}
}

func TestOwnerLoop(t *testing.T) {
	loop := find(t, rules.Owner, "loop")
	for raw, want := range map[string]bool{
		plain: false,
		"X-BeenThere: ant@lists.example.com\nList-Id: <ant.lists.example.com>\n" + plain: false,
		"X-BeenThere: ant-owner@lists.example.com\n" + plain:                             true,
	} {
		p := liststest.Post(liststest.List(liststest.Members()), "", raw)
		p.Target.Sub = lists.SubOwner
		if h, err := loop.Check(context.Background(), p); err != nil || (h != nil) != want {
			t.Errorf("%q: %v, %v", raw, h, err)
		}
	}
}
