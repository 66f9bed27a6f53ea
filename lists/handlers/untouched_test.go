package handlers_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/mailauth"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
	"qrunner/locking/fsys"

	ownkeys "qrunner/lists/mailauth/dkim"
)

// mail is a world with an author who signs (example.org) and a list that does.
type mail struct {
	dns       txt.Map
	author    ed25519.PrivateKey
	authority *mailauth.Authority
}

func newMail(t *testing.T) mail {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := mail{dns: txt.Map{"a._domainkey.example.org": {"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)}}, author: private}
	store := keys.New(root)
	s, err := store.Add(t.Context(), keys.Name{Domain: "lists.example.com", Selector: "s"}, ownkeys.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	record, err := ownkeys.Record(s.Key.Public())
	if err != nil {
		t.Fatal(err)
	}
	w.dns["s._domainkey.lists.example.com"] = []string{record}
	w.authority = mailauth.New(w.dns, store, time.Now)
	return w
}

// signed is a post with a signature of example.org over these fields.
func (w mail) signed(t *testing.T, raw string, h ...string) string {
	t.Helper()
	var out bytes.Buffer
	in := strings.ReplaceAll(raw, "\n", "\r\n")
	err := dkim.Sign(&out, strings.NewReader(in), &dkim.SignOptions{
		Domain: "example.org", Selector: "a", Signer: w.author, HeaderKeys: h,
		HeaderCanonicalization: dkim.CanonicalizationSimple, BodyCanonicalization: dkim.CanonicalizationSimple,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// verified are the domains whose signatures hold, as an independent verifier says.
func (w mail) verified(t *testing.T, raw []byte) string {
	t.Helper()
	vs, err := dkim.VerifyWithOptions(bytes.NewReader(raw), &dkim.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
		return w.dns.LookupTXT(context.Background(), name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range vs {
		if v.Err == nil {
			out = append(out, v.Domain)
		}
	}
	return strings.Join(out, " ")
}

// everything is what a list of any other style would change a post by.
var everything = []string{
	"style", "untouched", "subject_prefix", "[Ant]", "footer", footer, "header", "Above.", "reply_goes_to_list", "point_to_list",
	"filter_content", "yes", "filter_types", "text", "remove_dkim_headers", "yes", "personalize", "full", "validate_authenticity", "yes",
	"dkim_selectors", "s", "topics_enabled", "yes", "topics", "x: .", "dmarc_mitigate_action", "munge_from",
}

func (w mail) send(t *testing.T, raw string, world lists.DMARC, settings ...string) *lists.Post {
	t.Helper()
	p := liststest.Post(liststest.List(liststest.Members(), settings...), "anne@example.org", raw)
	p.Authority, p.DMARC = w.authority, world
	handlers.Protect(p)
	chains.Mark(p.Message, lists.Verdict{Hits: []lists.Hit{{Rule: "truth"}}})
	run(t, p)
	return p
}

const plainPost = "From: Anne <anne@example.org>\nTo: ant@lists.example.com\nSubject: x\nDate: Mon, 1 Jan 2024 09:58:00 +0000\n" +
	"Message-ID: <1@example.org>\nDisposition-Notification-To: anne@example.org\nList-Id: <mine.example.org>\n" +
	"Content-Type: multipart/alternative; boundary=b\nMIME-Version: 1.0\n\n--b\n\nHello \n--b\nContent-Type: text/html\n\n<p>Hello\n--b--\n\n\n"

func TestUntouched(t *testing.T) {
	w := newMail(t)
	common := []string{"From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Reply-To"}
	for _, tc := range []struct {
		name string
		h    []string
		// has and lacks are fields of the copy.
		has, lacks string
	}{
		{"common", common, "List-Id List-Unsubscribe List-Post X-BeenThere Precedence X-Topics Received Authentication-Results X-Mailman-Rule-Hits", "Reply-To Disposition-Notification-To"},
		{"oversigned", append([]string{"From", "Subject", "List-Post", "List-Unsubscribe", "Precedence", "X-BeenThere", "Sender", "Received", "X-Topics",
			"X-Mailman-Rule-Hits", "Authentication-Results", "Reply-To"}, common...),
			"List-Id List-Help", "List-Unsubscribe List-Post X-BeenThere Precedence X-Topics Received Authentication-Results X-Mailman-Rule-Hits Reply-To"},
		{"what we would remove", append([]string{"Disposition-Notification-To", "List-Id"}, common...), "Disposition-Notification-To List-Id", "Reply-To"},
	} {
		p := w.send(t, w.signed(t, plainPost, tc.h...), domains{"example.org": lists.DMARCReject}, everything...)
		raw := p.Message.Wire()
		if got := w.verified(t, raw); got != "lists.example.com example.org" {
			t.Errorf("%s: valid signatures: %q, of\n%s", tc.name, got, raw)
		}
		m := message.Parse(raw)
		for _, name := range strings.Fields(tc.has) {
			if !m.Has(name) {
				t.Errorf("%s: lacks %s", tc.name, name)
			}
		}
		for _, name := range strings.Fields(tc.lacks) {
			if m.Has(name) {
				t.Errorf("%s: has %s: %s", tc.name, name, m.Get(name))
			}
		}
		if tc.name == "what we would remove" && m.Get("List-Id") != "<mine.example.org>" {
			t.Errorf("%s: List-Id %s", tc.name, m.Get("List-Id"))
		}
		if len(p.Notes) > 0 {
			t.Errorf("%s: %q", tc.name, p.Notes)
		}
	}
}

// Without a signature that holds, the list does about a strict domain what it is set to
// do, and the trace says so. That SPF passed at our door helps nobody behind it.
func TestUntouchedWithoutSignature(t *testing.T) {
	w := newMail(t)
	strict := domains{"example.org": lists.DMARCReject, "silent.example": "?"}
	const spf = "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.org; dmarc=pass header.from=example.org\n"
	broken := strings.Replace(w.signed(t, plainPost, "From", "Subject", "Precedence"), "Subject: x", "Subject: y", 1)
	for _, tc := range []struct {
		name, raw, action string
		munged            bool
		note              string
	}{
		{"by SPF only", spf + plainPost, "munge_from", true, "munge_from: the domain example.org publishes a DMARC policy of reject, and no valid signature"},
		{"broken", broken, "munge_from", true, "no valid signature"},
		{"nothing to be done", plainPost, "no_mitigation", false, "no_mitigation: the domain example.org publishes"},
		{"unknown", strings.ReplaceAll(plainPost, "anne@example.org", "a@silent.example"), "munge_from", true, "could not be found out"},
		{"not strict", strings.ReplaceAll(plainPost, "anne@example.org", "a@relaxed.example"), "munge_from", false, ""},
	} {
		p := w.send(t, tc.raw, strict, append(everything, "trusted_authserv_ids", "mx.example.com", "dmarc_mitigate_action", tc.action)...)
		if got := strings.Contains(p.Message.Get("From"), "via Ant"); got != tc.munged {
			t.Errorf("%s: From: %s", tc.name, p.Message.Get("From"))
		}
		if note := strings.Join(p.Notes, "|"); !strings.Contains(note, tc.note) || (note == "") != (tc.note == "") {
			t.Errorf("%s: notes %q", tc.name, note)
		}
		if got := string(message.LF(p.Message.Body())); got != plainPost[strings.Index(plainPost, "\n\n")+2:] {
			t.Errorf("%s: body %q", tc.name, got)
		}
	}
}

func TestUntouchedRefuses(t *testing.T) {
	w := newMail(t)
	for _, tc := range []struct {
		name, raw string
		want      lists.Action
	}{
		{"unsigned", plainPost, lists.ActionReject},
		{"signed", w.signed(t, plainPost, "From", "Subject"), lists.ActionAccept},
		{"by another", strings.Replace(w.signed(t, plainPost, "To", "Subject", "From"), "From: Anne <anne@example.org>", "From: Anne <anne@strict.example>", 1), lists.ActionReject},
	} {
		l := liststest.List(append(liststest.Members(), lists.Member{Address: "anne@strict.example", Role: lists.RoleMember}), "style", "untouched", "dmarc_mitigate_action", "reject")
		p := liststest.Post(l, "anne@example.org", tc.raw)
		p.Authority, p.DMARC = w.authority, domains{"example.org": lists.DMARCReject, "strict.example": lists.DMARCQuarantine}
		v, err := chains.Judge(t.Context(), p)
		if err != nil || v.Action != tc.want {
			t.Errorf("%s: %+v, %v", tc.name, v, err)
		}
		if v.Action == lists.ActionReject && !strings.Contains(v.Reason, "no valid signature") {
			t.Errorf("%s: %s", tc.name, v.Reason)
		}
	}
}

// A password goes, whatever that costs; an anonymous list hides its authors.
func TestUntouchedHasLimits(t *testing.T) {
	w := newMail(t)
	p := w.send(t, w.signed(t, "Approved: s3cret\n"+plainPost, "From", "Approved"), domains{}, "style", "untouched")
	if strings.Contains(string(p.Message.Wire()), "s3cret") {
		t.Errorf("%s", p.Message.Wire())
	}
	p = w.send(t, w.signed(t, plainPost, "From", "Subject"), domains{}, "style", "untouched", "anonymous_list", "yes")
	if strings.Contains(string(p.Message.Wire()), "example.org") {
		t.Errorf("%s", p.Message.Wire())
	}
}
