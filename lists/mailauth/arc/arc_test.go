package arc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

const post = "From: Anne <anne@example.org>\r\nTo: list@example.com\r\nSubject: x\r\nDKIM-Signature: v=1\r\n\r\nHello\r\n"

func newSigner(t testing.TB) (dkim.Signer, txt.Map) {
	t.Helper()
	key, err := dkim.Generate(dkim.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	record, err := dkim.Record(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return dkim.Signer{Domain: "example.com", Selector: "s1", Key: key}, txt.Map{dkim.Name("example.com", "s1"): {record}}
}

func seal(t testing.TB, s dkim.Signer, dns txt.Resolver, raw string) string {
	t.Helper()
	m := message.Parse([]byte(raw))
	fields, err := Seal(m, canon.BodySum(m.Body(), canon.Relaxed), Sealing{
		Signer: s, Verdict: Verify(t.Context(), m, dns), Names: Names(m), At: time.Unix(1.8e9, 0),
		Results: authres.Results{ID: "lists.example.com", Results: []authres.Result{{Method: "dkim", Value: authres.Pass}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for _, f := range fields {
		head.Write(f.Raw)
	}
	return head.String() + raw
}

func TestSealOnSeal(t *testing.T) {
	s, dns := newSigner(t)
	raw := post
	for n := 1; n <= 3; n++ {
		raw = seal(t, s, dns, raw)
		v := Verify(t.Context(), message.Parse([]byte(raw)), dns)
		if v.Status != authres.Pass || v.Sets != n {
			t.Fatalf("set %d: %+v\n%s", n, v, raw)
		}
		raw = "Received: hop\r\n" + raw
	}
	// Who changes the message and seals it again says so; nobody adds to that.
	changed := strings.Replace(raw, "Hello", "Goodbye", 1)
	dead := seal(t, s, dns, changed)
	v := Verify(t.Context(), message.Parse([]byte(dead)), dns)
	if v.Status != authres.Fail || !v.Dead || v.Sets != 4 || !strings.Contains(dead, "cv=fail") {
		t.Errorf("%+v", v)
	}
	if again := seal(t, s, dns, dead); again != dead {
		t.Error("a dead chain was extended")
	}
}

func TestSealCoversTheSignature(t *testing.T) {
	s, dns := newSigner(t)
	raw := seal(t, s, dns, post)
	for _, change := range [][2]string{{"DKIM-Signature: v=1", "DKIM-Signature: v=2"}, {"Subject: x", "Subject: y"}, {"dkim=pass", "dkim=fail"}} {
		if v := Verify(t.Context(), message.Parse([]byte(strings.Replace(raw, change[0], change[1], 1))), dns); v.Status != authres.Fail || v.Reason() == "" {
			t.Errorf("%v: %+v", change, v)
		}
	}
}

func TestLimits(t *testing.T) {
	s, dns := newSigner(t)
	for name, head := range map[string]string{
		"too long": "ARC-Seal: i=51\r\n", "huge": "ARC-Seal: i=99999999999999999999\r\n", "negative": "ARC-Seal: i=-1\r\n",
		"gap": "ARC-Seal: i=7; cv=pass\r\n", "no tags": "ARC-Message-Signature: x\r\n", "long field": "ARC-Seal: i=1; b=" + strings.Repeat("x", maxField) + "\r\n",
		"only results": "ARC-Authentication-Results: i=1; mx; none\r\n",
	} {
		raw := head + post
		v := Verify(t.Context(), message.Parse([]byte(raw)), dns)
		if v.Status != authres.Fail || !errors.Is(v.Err, ErrChain) {
			t.Errorf("%s: %+v", name, v)
		}
		sealed := seal(t, s, dns, raw)
		if !strings.Contains(sealed, fmt.Sprintf("i=%d;", v.Sets+1)) || !strings.Contains(sealed, "cv=fail") {
			t.Errorf("%s: not sealed as failed:\n%s", name, sealed)
		}
	}
	if raw := "ARC-Seal: i=50; cv=pass\r\n" + post; seal(t, s, dns, raw) != raw {
		t.Error("51st set")
	}
}

type broken struct{}

func (broken) LookupTXT(context.Context, string) ([]string, error) {
	return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
}

// A chain that cannot be judged now is not called failed, and not sealed.
func TestDNSTrouble(t *testing.T) {
	s, dns := newSigner(t)
	raw := seal(t, s, dns, post)
	if v := Verify(t.Context(), message.Parse([]byte(raw)), broken{}); v.Status != authres.TempError || !dkim.Temporary(v.Err) {
		t.Errorf("%+v", v)
	}
	if seal(t, s, broken{}, raw) != raw {
		t.Error("sealed")
	}
}

func FuzzVerify(f *testing.F) {
	s, dns := newSigner(f)
	f.Add([]byte(seal(f, s, dns, seal(f, s, dns, post))))
	f.Add([]byte("ARC-Seal: i=1; cv=none; a=rsa-sha256; d=a.b; s=c; b=AAAA\r\nARC-Message-Signature: i=1; h=\r\nARC-Authentication-Results: i=1;\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := message.Parse(raw)
		v := Verify(t.Context(), m, dns)
		if (v.Err == nil) != (v.Status == authres.Pass || v.Status == authres.None) {
			t.Errorf("%+v", v)
		}
		if _, err := Seal(m, canon.BodySum(m.Body(), canon.Relaxed), Sealing{Signer: s, Verdict: v, Names: Names(m)}); err != nil {
			t.Error(err)
		}
	})
}
