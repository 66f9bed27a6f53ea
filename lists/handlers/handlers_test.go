package handlers_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

var update = flag.Bool("update", false, "write the golden files anew")

// footer is what the list of the golden files puts under each post.
const footer = "-- \n$display_name: $posting_address\nfrom $nosuch ${listname}\n"

func run(t *testing.T, p *lists.Post) {
	t.Helper()
	if err := handlers.Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

// The text above the footer reaches the reader as it was written, and the footer too.
func TestDecorationKeepsTheText(t *testing.T) {
	files, _ := filepath.Glob("testdata/golden/in/*.eml")
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := liststest.Post(liststest.List(liststest.Members(), "footer", footer), "anne@example.org", string(raw))
		before := leaves(t, p.Message.Clone())
		run(t, p)
		after := leaves(t, message.Parse(p.Message.Wire()))
		if len(after) == len(before) {
			last := len(before) - 1
			if !strings.HasPrefix(after[last], strings.TrimRight(before[last], "\r\n")) {
				t.Errorf("%s: text %q became %q", name, before[last], after[last])
			}
		} else if d := cmp.Diff(before, after[:len(after)-1]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !strings.Contains(after[len(after)-1], "Ant: ant@lists.example.com\r\nfrom $nosuch ant@lists.example.com") {
			t.Errorf("%s: footer: %q", name, after[len(after)-1])
		}
	}
}

func leaves(t *testing.T, m *message.Message) []string {
	t.Helper()
	root, err := m.Structure()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for p := range root.Leaves {
		out = append(out, string(p.Decode(m.Body())))
	}
	return out
}

func TestSubjectPrefix(t *testing.T) {
	for _, tc := range []struct{ prefix, subject, want string }{
		{"[Ant]", "Subject: hello", "[Ant] hello"},
		{"[Ant]", "Subject: Re: hello", "[Ant] Re: hello"},
		{"[Ant]", "Subject: Re: [Ant] AW: hello", "[Ant] Re: hello"},
		{"[Ant]", "Subject: [Ant] Re: [ant]  hello", "[Ant] Re: hello"},
		{"[Ant]", "Subject: Regarding: x", "[Ant] Regarding: x"},
		{"[Ant]", "Subject: Re:", "[Ant] Re:"},
		{"[Ant]", "Subject:", "[Ant] (no subject)"},
		{"[Ant]", "X: y", "[Ant] (no subject)"},
		{"[Ant]", "Subject: [Ant]", "[Ant] (no subject)"},
		{"[Ant]", "Subject: =?utf-8?Q?Re:?=", "[Ant] =?utf-8?Q?Re:?="},
		{"[Ant]", "Subject: =?utf-8?q?=5BAnt=5D_x?= y", "[Ant] x y"},
		{"[Ant]", "Subject: =?utf-8?q?=5BA?= =?utf-8?q?nt=5D_=C3=BC?=", "[Ant] ü"},
		{"[Ant]", "Subject: Gr\xfc\xdfe", "[Ant] Gr\xfc\xdfe"},
		{"[Ant %05d]", "Subject: Re: [Ant 00012] x", "[Ant 00007] Re: x"},
		{"[Ant %d]", "Subject: x", "[Ant 7] x"},
		{"(A+) %d:", "Subject: Re: (a+) 3: x", "(A+) 7: Re: x"},
		{"[Ämeise]", "Subject: =?utf-8?q?=C3=BC?=", "[Ämeise] ü"},
		{"[Ämeise]", "Subject: x", "[Ämeise] x"},
		{"", "Subject: Re: AW: x", "Re: AW: x"},
		{"", "X: y", ""},
	} {
		l := liststest.List(liststest.Members(), "subject_prefix", tc.prefix)
		p := liststest.Post(l, "anne@example.org", "From: anne@example.org\n"+tc.subject+"\n\nx\n")
		run(t, p)
		got := p.Message.Get("Subject")
		if !strings.Contains(tc.want, "=?") && !strings.Contains(tc.want, "\xfc") {
			got = message.DecodeHeader(got)
		}
		if got != tc.want {
			t.Errorf("%q under %q: %q, want %q", tc.subject, tc.prefix, got, tc.want)
		}
		again := liststest.Post(l, "anne@example.org", string(p.Message.Bytes()))
		run(t, again)
		if a, b := message.DecodeHeader(again.Message.Get("Subject")), message.DecodeHeader(p.Message.Get("Subject")); a != b {
			t.Errorf("%q twice: %q, then %q", tc.subject, b, a)
		}
	}
}

func TestRecipients(t *testing.T) {
	members := liststest.Members()
	members[0].Prefs = map[string]string{"receive_own_postings": "no"}
	members[1].Prefs = map[string]string{"receive_list_copy": "no"}
	members = append(members, lists.Member{Address: "off@example.org", Role: lists.RoleMember, Status: lists.StatusByBounces},
		lists.Member{Address: "own@example.org", Role: lists.RoleOwner})
	for _, tc := range []struct{ name, head, want string }{
		{"all", "From: zed@example.net\n", "anne bart dora emil+tag"},
		{"not to the sender", "From: ANNE@example.org\n", "bart dora emil+tag"},
		{"sender wants it", "From: dora@example.org\n", "anne bart dora emil+tag"},
		{"direct copy", "From: zed@example.net\nTo: Bart <BART@example.org>, dora@example.org\n", "anne dora emil+tag"},
	} {
		p := liststest.Post(liststest.List(members), "zed@example.net", tc.head+"\nx")
		run(t, p)
		if got := names(p); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		for _, r := range p.Recipients {
			if r.Kind != lists.KindMember || r.Member == 0 {
				t.Errorf("%s: %+v", tc.name, r)
			}
		}
	}
	l := liststest.List(members, "receive_own_postings", "no")
	p := liststest.Post(l, "x@y.org", "From: dora@example.org\n\nx")
	run(t, p)
	if got := names(p); got != "anne bart emil+tag" {
		t.Errorf("the list's default: %s", got)
	}
}

func names(p *lists.Post) string {
	var out []string
	for _, r := range p.Recipients {
		out = append(out, r.Address.Local())
	}
	return strings.Join(out, " ")
}

func TestOwnerPipeline(t *testing.T) {
	people := append(liststest.Members(), lists.Member{Address: "own@example.org", Role: lists.RoleOwner}, lists.Member{Address: "mona@example.org", Role: lists.RoleOwner})
	for _, tc := range []struct {
		members []lists.Member
		want    string
	}{{people, "mona own nils"}, {people[:5], "site"}} {
		p := liststest.Post(liststest.List(tc.members, "subject_prefix", "[Ant]", "footer", "foot"), "", "From: MAILER-DAEMON@x.org\nSubject: x\nX-BeenThere: ant@lists.example.com\n\nbody\n")
		p.Target.Sub, p.SiteOwners = lists.SubOwner, append(p.SiteOwners, "site@example.com")
		run(t, p)
		if got := names(p); got != tc.want {
			t.Errorf("owners %q, want %q", got, tc.want)
		}
		m := p.Message
		if m.Get("Subject") != "x" || string(m.Body()) != "body\r\n" || m.Has("List-Id") || p.Archive != nil ||
			!strings.Contains(strings.Join(m.All("X-BeenThere"), " "), "ant-owner@lists.example.com") {
			t.Errorf("mail to owners:\n%s", m.Bytes())
		}
	}
}

func TestSettingsOfHeaders(t *testing.T) {
	raw := "From: anne@example.org\nDKIM-Signature: v=1\nPrecedence: bulk\n\nx"
	p := liststest.Post(liststest.List(liststest.Members(), "include_rfc2369_headers", "no", "remove_dkim_headers", "yes", "description", "Käfer"), "anne@example.org", raw)
	run(t, p)
	m := p.Message
	if m.Has("List-Post") || m.Has("DKIM-Signature") || m.Get("Precedence") != "bulk" || !strings.HasSuffix(m.Get("List-Id"), " <ant.lists.example.com>") {
		t.Errorf("%s", m.Bytes())
	}
	if m.MessageID() != "trace1@lists.example.com" || m.Get("Date") == "" {
		t.Errorf("id %q, date %q", m.MessageID(), m.Get("Date"))
	}
	p = liststest.Post(liststest.List(liststest.Members(), "allow_list_posts", "no"), "anne@example.org", raw)
	run(t, p)
	if p.Message.Get("List-Post") != "NO" || !p.Message.Has("DKIM-Signature") {
		t.Errorf("%s", p.Message.Bytes())
	}
}

func TestArchiveCopy(t *testing.T) {
	for _, tc := range []struct {
		policy, head string
		want         bool
	}{{"private", "", true}, {"never", "", false}, {"public", "X-No-Archive: Yes\n", false}, {"public", "X-Archive: no\n", false}} {
		p := liststest.Post(liststest.List(liststest.Members(), "archive_policy", tc.policy, "footer", "foot"), "anne@example.org", "From: anne@example.org\n"+tc.head+"\nx\n")
		run(t, p)
		if (p.Archive != nil) != tc.want {
			t.Errorf("%+v: archived %v", tc, p.Archive != nil)
		}
		if p.Archive != nil && (bytes.Contains(p.Archive.Body(), []byte("foot")) || !p.Archive.Has("List-Id")) {
			t.Errorf("archive copy:\n%s", p.Archive.Bytes())
		}
	}
}

func TestApprovalLineIsTakenOut(t *testing.T) {
	alternative := "From: anne@example.org\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\n" +
		"QXBwcm92ZWQ6IHB3CkhlbGxvCg==\n--b\nContent-Type: text/html\n\n<p>Hello</p>\n--b--\n"
	for _, tc := range []struct{ raw, want string }{
		{"From: anne@example.org\n\nApproved: pw\nHello\n", "Hello\r\n"},
		{"From: anne@example.org\nContent-Transfer-Encoding: quoted-printable\n\nApproved: p=77\nHell=6f\n", "Hello\r\n"},
		{alternative, "Hello\n|<p>Hello</p>"},
		{"From: anne@example.org\n\nHello\nApproved: other\n", "Hello\r\nApproved: other\r\n"},
	} {
		p := liststest.Post(liststest.List(liststest.Members(), "moderator_password", "pw"), "anne@example.org", tc.raw)
		run(t, p)
		if got := strings.Join(leaves(t, p.Message), "|"); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestNotice(t *testing.T) {
	l := liststest.List(liststest.Members())
	p := liststest.Post(l, "", "From: ant-owner@lists.example.com\nSubject: x\n\nhi\n")
	if err := handlers.RunNotice(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if names(p) != "mona nils" || p.Message.Get("Precedence") != "bulk" || p.Message.Get("List-Id") != "<ant.lists.example.com>" || !p.Message.Has("Date") {
		t.Errorf("to %s:\n%s", names(p), p.Message.Bytes())
	}
}
