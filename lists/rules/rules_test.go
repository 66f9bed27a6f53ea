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

// strict is a world in which one domain publishes a DMARC policy.
type strict struct{}

func (strict) Policy(_ context.Context, domain string) (lists.DMARCPolicy, error) {
	if domain == "strict.example" {
		return lists.DMARCReject, nil
	}
	return lists.DMARCNone, nil
}

// others knows one other list, of which Bea is a member.
func others(_ context.Context, id lists.ID) (lists.Roster, error) {
	if id != "bee@lists.example.com" {
		return nil, lists.ErrNoList
	}
	return liststest.List([]lists.Member{{Address: "bea@example.org", Role: lists.RoleMember}}).Roster, nil
}

// recent is an hour in which Anne posted three times, and others four times.
func recent(key string) int { return map[string]int{"post/anne@example.org": 3, "posts": 7}[key] }

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
			p.DMARC, p.Others, p.Recent = strict{}, others, recent
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
		{rule: "no-senders", name: "none", sender: "<>", raw: "To: ant@lists.example.com\n\n", want: "-: from_"},
		{rule: "no-senders", name: "undisclosed", sender: "<>", raw: "From: undisclosed\n\n", want: "-: from_"},
		{rule: "no-senders", name: "empty path", sender: "<>", raw: "From: <>\n\n", want: "-: from_"},
		{rule: "no-senders", name: "half", sender: "<>", raw: "From: zed@\n\n", want: "-: from_"},
		{rule: "no-senders", name: "junk", sender: "<>", raw: "From: a b@c d\n\n", want: "-: from_"},
		{rule: "no-senders", name: "empty group", sender: "<>", raw: "From: undisclosed-recipients:;\n\n", want: "-: from_"},
		{rule: "no-senders", name: "envelope", raw: "From: undisclosed\n\n"},
		{rule: "no-senders", name: "envelope does not count here", settings: []string{"sender_headers", "from"}, raw: "From: undisclosed\n\n", want: "-: from"},
		{rule: "no-senders", name: "Reply-To", sender: "<>", raw: "Reply-To: anne@example.org\n\n"},
		{rule: "banned-address", name: "nobody"},
		{rule: "banned-address", name: "From", settings: []string{"ban_list", "x@y.org\nANNE@example.org"}, want: "-: anne@example.org"},
		{rule: "banned-address", name: "pattern", settings: []string{"ban_list", "^.*@EXAMPLE\\.org$"}, want: "-: banned"},
		{rule: "banned-address", name: "envelope", settings: []string{"ban_list", "zed@example.net"}, sender: "zed@example.net", want: "-: zed"},
		{rule: "banned-address", name: "site", settings: []string{"site_ban_list", "^@?anne@"}, want: "-: banned from this site"},
		{rule: "banned-address", name: "Reply-To", settings: []string{"ban_list", "zed@example.net"}, raw: "Reply-To: zed@example.net\n" + plain, want: "-: zed"},
		{rule: "banned-address", name: "IDN, either way of writing", settings: []string{"ban_list", "zed@bücher.example"}, raw: "From: <zed@xn--bcher-kva.example>\n\n", want: "-: banned"},
		{rule: "banned-address", name: "quoted local part", settings: []string{"ban_list", `"z ed"@example.net`}, raw: "From: \"z ed\"@example.net\n\n", want: "-: banned"},
		{rule: "banned-address", name: "comments", settings: []string{"ban_list", "zed@example.net"}, raw: "From: (a) zed@example.net (b)\n\n", want: "-: zed"},
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
		{rule: "member-moderation", name: "announce list", settings: []string{"allow_list_posts", "no"}, want: "hold: anne"},
		{rule: "member-moderation", name: "announcer", members: changed("anne@example.org", lists.ActionAccept), settings: []string{"allow_list_posts", "no"}, want: "accept: anne"},
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
		{rule: "nonmember-moderation", name: "no From", settings: []string{"default_nonmember_action", "accept"}, raw: "To: ant@lists.example.com\n\n", want: "hold: unreadable"},
		{rule: "nonmember-moderation", name: "unreadable From", settings: []string{"default_nonmember_action", "defer"}, raw: from("undisclosed"), want: "hold: unreadable"},
		{rule: "nonmember-moderation", name: "group", raw: from("friends: anne@example.org, zed@example.net;"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "raw 8-bit name", raw: from("J\xfcrgen <anne@example.org>")},
		{rule: "nonmember-moderation", name: "announce list", settings: []string{"allow_list_posts", "no", "default_nonmember_action", "accept"}, raw: from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "member of another list", settings: []string{"accept_these_nonmembers", "@bee@lists.example.com"}, raw: from("bea@example.org"), want: "accept: bea"},
		{rule: "nonmember-moderation", name: "member of no other list", settings: []string{"accept_these_nonmembers", "@bee@lists.example.com"}, raw: from("zed@example.net"), want: "hold: zed"},
		{rule: "nonmember-moderation", name: "a list that is not there", settings: []string{"accept_these_nonmembers", "@cow@lists.example.com"}, raw: from("bea@example.org"), want: "hold: bea"},
		{rule: "nonmember-moderation", name: "rejected with a notice", settings: []string{"reject_these_nonmembers", "^.*", "nonmember_rejection_notice", "Members only."}, raw: from("zed@example.net"), want: "reject: zed"},
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
		{rule: "approved", name: "HTML only", settings: []string{"moderator_password", "s3cret"}, raw: head + "Content-Type: text/html\n\n<div>Approved:&nbsp;s3<b>cret</b></div><p>hello</p>", want: "-: first line"},
		{rule: "approved", name: "HTML, wrong", settings: []string{"moderator_password", "s3cret"}, raw: head + "Content-Type: text/html\n\n<div>Approved: s3cre</div>"},
		{rule: "approved", name: "an attachment's first line", settings: []string{"moderator_password", "s3cret"}, raw: head + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b\n\nApproved: s3cret\n--b--\n"},
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
		{rule: "header-match", name: "site", settings: []string{"header_checks", "discard X-Spam-Flag: ^yes"}, raw: "X-Spam-Flag: YES\n" + plain, want: "discard: X-Spam-Flag"},
		{rule: "header-match", name: "site before list", settings: []string{"header_checks", "discard X-Spam-Flag: ^yes", "header_matches", "accept Subject: hi"}, raw: "X-Spam-Flag: YES\n" + plain, want: "discard: X-Spam-Flag"},
		{rule: "header-match", name: "comment", settings: []string{"header_matches", "# hold Subject: hi"}},
		{rule: "header-match", name: "raw text of an unknown charset", settings: []string{"header_matches", "hold Subject: klingon"}, raw: "Subject: =?x-klingon-7?B?dGVzdA==?=\n\n", want: "hold: Subject"},
		{rule: "header-match", name: "decoded text", settings: []string{"header_matches", "hold Subject: ^spam"}, raw: "Subject: =?utf-8?q?sp=61m?=\n\n", want: "hold: Subject"},
		{rule: "suspicious-header", name: "hit", settings: []string{"bounce_matching_headers", "From: anne"}, want: "-: From"},
		{rule: "suspicious-header", name: "miss", settings: []string{"bounce_matching_headers", "From: ^zed"}},
		{rule: "dmarc-mitigation", name: "off", raw: "From: a@strict.example\n\n"},
		{rule: "dmarc-mitigation", name: "reject", settings: []string{"dmarc_mitigate_action", "reject"}, raw: "From: a@strict.example\n\n", want: "reject: strict.example"},
		{rule: "dmarc-mitigation", name: "discard", settings: []string{"dmarc_mitigate_action", "discard"}, raw: "From: x@y.org, a@strict.example\n\n", want: "discard: strict.example"},
		{rule: "dmarc-mitigation", name: "the handlers rewrite", settings: []string{"dmarc_mitigate_action", "munge_from"}, raw: "From: a@strict.example\n\n"},
		{rule: "dmarc-mitigation", name: "nothing published", settings: []string{"dmarc_mitigate_action", "reject"}},
		{rule: "dmarc-mitigation", name: "named", settings: []string{"dmarc_mitigate_action", "reject", "dmarc_addresses", "^.*@example\\.org$"}, want: "reject: dmarc_addresses"},
		{rule: "news-moderation", name: "never"},
		{rule: "auto-submitted", name: "no", raw: "Auto-Submitted: no\n" + plain},
		{rule: "auto-submitted", name: "a program's own mail", raw: "Auto-Submitted: auto-generated\n" + plain},
		{rule: "auto-submitted", name: "an answer", raw: "auto-submitted: Auto-Replied (vacation); x=y\n" + plain, want: "-: machine"},
		{rule: "auto-submitted", name: "an answer without comment", raw: "auto-submitted: Auto-Replied; x=y\n" + plain, want: "-: machine"},
		{rule: "rate-limit", name: "off"},
		{rule: "rate-limit", name: "author", settings: []string{"max_posts_per_sender", "3"}, want: "-: 3 posts of this author"},
		{rule: "rate-limit", name: "author, below", settings: []string{"max_posts_per_sender", "4"}},
		{rule: "rate-limit", name: "list", settings: []string{"max_posts_per_list", "7"}, want: "-: 7 posts to the list"},
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
		{rule: "digests", name: "masthead", settings: []string{"hold_digest", "yes"}, raw: head + "\n> Send Ant mailing list submissions to\n> \tant@lists.example.com\n>\n> To subscribe or unsubscribe via email\n> You can reach the person managing the list at\n> Today's Topics:\n", want: "-: quotes"},
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
			if want && r.Name == "news-moderation" {
				continue
			}
			if !slices.ContainsFunc(cases, func(c ruleCase) bool { return c.rule == r.Name && (c.want != "") == want }) {
				t.Errorf("rule %s: no case with hit=%v", r.Name, want)
			}
		}
		if r.Doc == "" {
			t.Errorf("rule %s: no doc", r.Name)
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
