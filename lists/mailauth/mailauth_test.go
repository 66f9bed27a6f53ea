package mailauth_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/mailauth"
	"qrunner/lists/mailauth/arc"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
	"qrunner/locking/fsys"
)

// world is a site with keys s1 and s2 for lists.example.com, and an author with
// one for example.org.
type world struct {
	dns       txt.Map
	authority *mailauth.Authority
	author    dkim.Signer
}

func newWorld(t *testing.T) world {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := world{dns: txt.Map{}}
	k := keys.New(root)
	for _, selector := range []string{"s1", "s2"} {
		s, err := k.Add(t.Context(), keys.Name{Domain: "lists.example.com", Selector: selector}, dkim.Ed25519)
		if err != nil {
			t.Fatal(err)
		}
		w.publish(t, s)
	}
	key, err := dkim.Generate(dkim.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	w.author = dkim.Signer{Domain: "example.org", Selector: "a", Key: key}
	w.publish(t, w.author)
	w.authority = mailauth.New(w.dns, k, liststest.Day)
	return w
}

func (w world) publish(t *testing.T, s dkim.Signer) {
	t.Helper()
	record, err := dkim.Record(s.Key.Public())
	if err != nil {
		t.Fatal(err)
	}
	w.dns[dkim.Name(s.Domain, s.Selector)] = []string{record}
}

// post is signed by its author.
func (w world) post(t *testing.T, head string) string {
	t.Helper()
	raw := strings.ReplaceAll("From: Anne <anne@example.org>\nTo: ant@lists.example.com\nSubject: x\nDate: Mon, 1 Jan 2024 09:58:00 +0000\nMessage-ID: <1@example.org>\n\nHello\n", "\n", "\r\n")
	m := message.Parse([]byte(raw))
	f, err := w.author.Sign(m, canon.BodySum(m.Body(), canon.Relaxed), liststest.Day())
	if err != nil {
		t.Fatal(err)
	}
	return head + string(f.Raw) + raw
}

func (w world) send(t *testing.T, raw string, settings ...string) (*message.Message, error) {
	t.Helper()
	settings = append([]string{"subject_prefix", "[Ant]", "footer", "bye"}, settings...)
	p := liststest.Post(liststest.List(liststest.Members(), settings...), "anne@example.org", raw)
	p.Authority = w.authority
	err := handlers.Run(t.Context(), p)
	return message.Parse(p.Message.Wire()), err
}

// The whole way of a post: checked, changed, signed twice, sealed; each copy verifies,
// and so does one that went through a second list.
func TestThroughTheList(t *testing.T) {
	w := newWorld(t)
	settings := []string{"dkim_selectors", "s1 s2", "arc_seal", "yes"}
	m, err := w.send(t, w.post(t, "Authentication-Results: lists.example.com; dkim=pass header.d=bank.example\r\n"), settings...)
	if err != nil {
		t.Fatal(err)
	}
	results := authres.Of(m, "lists.example.com")
	if len(results) != 1 || len(results[0].Results) != 2 || results[0].Results[0].Get("header", "d") != "example.org" || results[0].Results[0].Value != "pass" {
		t.Errorf("%+v", results)
	}
	v := dkim.Verify(t.Context(), m, w.dns, liststest.Day())
	if len(v) != 3 || v[0].Err != nil || v[1].Err != nil || v[2].Err == nil {
		t.Errorf("two signatures of the list should hold, the author's not: %+v", v)
	}
	if chain := arc.Verify(t.Context(), m, w.dns); chain.Status != authres.Pass || chain.Sets != 1 {
		t.Errorf("%+v", chain)
	}
	for i, want := range []string{"ARC-Seal", "ARC-Message-Signature", "ARC-Authentication-Results", "DKIM-Signature", "DKIM-Signature", "Received"} {
		if got := m.Fields()[i].Name; got != want {
			t.Errorf("field %d: %s, want %s", i, got, want)
		}
	}
	m.Del("X-BeenThere")
	again, err := w.send(t, string(m.Bytes()), settings...)
	if err != nil {
		t.Fatal(err)
	}
	if chain := arc.Verify(t.Context(), again, w.dns); chain.Status != authres.Pass || chain.Sets != 2 {
		t.Errorf("second list: %+v", chain)
	}
	m.SetBody([]byte("forged"))
	forged, err := w.send(t, string(m.Bytes()), settings...)
	if chain := arc.Verify(t.Context(), forged, w.dns); err != nil || !chain.Dead {
		t.Errorf("forged: %+v, %v", chain, err)
	}
}

// A trusted system's results stand for ours: it saw the sender's address.
func TestTrustedResults(t *testing.T) {
	w := newWorld(t)
	raw := w.post(t, "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.org; dkim=fail (x) header.d=example.org; iprev=pass\r\n"+
		"Authentication-Results: mx.evil.example; dmarc=pass\r\n")
	m, err := w.send(t, raw, "validate_authenticity", "yes", "trusted_authserv_ids", "mx.example.com", "authserv_id", "id.example.com")
	if err != nil {
		t.Fatal(err)
	}
	got := authres.Of(m, "id.example.com")
	want := "id.example.com; spf=pass smtp.mailfrom=example.org; dkim=fail (x) header.d=example.org; arc=none"
	if len(got) != 1 || authres.Format(got[0]) != want {
		t.Errorf("%+v", got)
	}
	if m.Has("DKIM-Signature") && len(m.All("DKIM-Signature")) != 1 {
		t.Error("signed without being told")
	}
}

func TestOffByDefault(t *testing.T) {
	w := newWorld(t)
	m, err := w.send(t, w.post(t, ""))
	if err != nil || m.Has("Authentication-Results") || m.Has("ARC-Seal") || len(m.All("DKIM-Signature")) != 1 {
		t.Errorf("%v %s", err, m.Bytes())
	}
}

func TestMissingKeyWaits(t *testing.T) {
	w := newWorld(t)
	for _, settings := range [][]string{{"dkim_selectors", "nosuch"}, {"dkim_selectors", "s1", "dkim_domain", "other.example"}, {"dkim_selectors", "a/b"}} {
		if _, err := w.send(t, w.post(t, ""), settings...); !errors.Is(err, lists.ErrTrouble) {
			t.Errorf("%v: %v", settings, err)
		}
	}
}

type broken struct{}

func (broken) LookupTXT(context.Context, string) ([]string, error) {
	return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
}

func TestDNSTroubleIsAResult(t *testing.T) {
	w := newWorld(t)
	w.authority = mailauth.New(broken{}, nil, time.Now)
	m, err := w.send(t, w.post(t, ""), "validate_authenticity", "yes")
	if err != nil || !strings.Contains(m.Get("Authentication-Results"), "dkim=temperror") {
		t.Errorf("%v %s", err, m.Get("Authentication-Results"))
	}
}

// The site's own mail has no domain: it goes unsigned unless one is named.
func TestSiteMail(t *testing.T) {
	w := newWorld(t)
	l := liststest.List(liststest.Members(), "dkim_selectors", "s1")
	l.ID = lists.Site
	p := liststest.Post(l, "", "From: root@mx.example.com\n\nx\n")
	if err := w.authority.Sign(t.Context(), p); err != nil || p.Message.Has("DKIM-Signature") {
		t.Error(err)
	}
}
