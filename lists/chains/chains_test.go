package chains_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
)

const head = "From: Anne <anne@example.org>\nTo: ant@lists.example.com\nSubject: hi\n"

func judge(t *testing.T, l *lists.List, sender mailaddr.Address, raw string) (lists.Verdict, *lists.Post) {
	t.Helper()
	p := liststest.Post(l, sender, raw)
	v, err := chains.Judge(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return v, p
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name     string
		settings []string
		sender   mailaddr.Address
		raw      string
		want     string // action, rule, hits
	}{
		{"member", nil, "anne@example.org", head + "\nx", "accept truth "},
		{"stranger", nil, "zed@example.net", "From: zed@example.net\nTo: ant@lists.example.com\nSubject: x\n\nx", "hold nonmember-moderation nonmember-moderation"},
		{"report", nil, "", head + "\nx", "discard null-sender null-sender"},
		{"loop before ban", []string{"ban_list", "^.*"}, "anne@example.org", "X-BeenThere: ant@lists.example.com\n" + head + "\nx", "discard loop loop"},
		{"password beats emergency", []string{"emergency", "yes", "moderator_password", "pw"}, "anne@example.org", "Approved: pw\n" + head + "\nx", "accept approved approved"},
		{"emergency", []string{"emergency", "yes"}, "anne@example.org", head + "\nx", "hold emergency emergency"},
		{"deferred hits are summed up", []string{"max_message_size", "1"}, "anne@example.org", strings.Replace(head, "ant@lists", "x@y", 1) + "\nhelp\n" + strings.Repeat("x", 2000), "hold administrivia administrivia implicit-dest max-size"},
		{"nonmember accepted skips the rest", []string{"accept_these_nonmembers", "zed@example.net", "max_message_size", "1"}, "zed@example.net", "From: zed@example.net\n\n" + strings.Repeat("x", 2000), "accept nonmember-moderation nonmember-moderation"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, p := judge(t, liststest.List(liststest.Members(), tc.settings...), tc.sender, tc.raw)
			var hits []string
			for _, h := range v.Hits {
				hits = append(hits, h.Rule)
			}
			if got := string(v.Action) + " " + v.Rule + " " + strings.Join(hits, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if len(hits) > 0 && v.Reason == "" {
				t.Error("no reason")
			}
			if d := cmp.Diff(v.Hits, p.Hits); len(v.Hits) > 0 && d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMark(t *testing.T) {
	v, p := judge(t, liststest.List(liststest.Members(), "max_message_size", "1", "require_explicit_destination", "no"), "anne@example.org",
		"X-Mailman-Rule-Hits: forged\n"+head+"\nhelp\n"+strings.Repeat("x", 2000))
	chains.Mark(p.Message, v)
	if got := p.Message.All("X-Mailman-Rule-Hits"); len(got) != 1 || got[0] != "administrivia; max-size" {
		t.Errorf("hits %q", got)
	}
	misses := p.Message.Get("X-Mailman-Rule-Misses")
	if !strings.HasPrefix(misses, "null-sender; dmarc-mitigation; no-senders; approved; loop;") || strings.Contains(misses, "any") || strings.Contains(misses, "truth") {
		t.Errorf("misses %q", misses)
	}
}

func TestOwnerChain(t *testing.T) {
	l := liststest.List(liststest.Members(), "emergency", "yes", "ban_list", "^.*")
	p := liststest.Post(l, "", "From: MAILER-DAEMON@x.org\n\nreport")
	p.Target.Sub = lists.SubOwner
	v, err := chains.Judge(context.Background(), p)
	if err != nil || v.Action != lists.ActionAccept {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestJudgeStopsWithItsContext(t *testing.T) {
	why := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := chains.Judge(ctx, liststest.Post(liststest.List(nil), "a@b.org", head)); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Who sent this: the posts of reproducer 035.
func TestSenderless035(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("../../../shared/repro", "035-senderless-post.eml"))
	if os.IsNotExist(err) {
		t.Skip("no reproducer 035")
	}
	post := string(raw)
	l := liststest.List(liststest.Members())
	from := "From: Zed <zed@example.net>\n"
	for _, tc := range []struct {
		from   string
		sender mailaddr.Address
		want   lists.Action
	}{
		{from, "zed@example.net", lists.ActionHold},
		{"", "", lists.ActionDiscard},
		{"From: undisclosed\n", "zed@example.net", lists.ActionHold},
		{"From: <>\n", "zed@example.net", lists.ActionHold},
		{"From: zed@\n", "zed@example.net", lists.ActionHold},
		{"From: a b@c d\n", "zed@example.net", lists.ActionHold},
		{"From: anne@example.org, zed@example.net\n", "anne@example.org", lists.ActionHold},
		{"From: anne@example.org\nReply-To: ant@lists.example.com\n", "anne@example.org", lists.ActionAccept},
	} {
		v, _ := judge(t, l, tc.sender, strings.Replace(post, from, tc.from, 1))
		if v.Action != tc.want {
			t.Errorf("%q: %s (%s), want %s", tc.from, v.Action, v.Reason, tc.want)
		}
	}
}
