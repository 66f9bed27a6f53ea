package dkim

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	peer "github.com/emersion/go-msgauth/dkim"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

const post = "From: Anne <anne@example.org>\r\nTo: list@example.com\r\nSubject: a  folded\r\n  subject\r\n" +
	"Date: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-ID: <1@example.org>\r\nList-Unsubscribe: <https://example.com/u/1>\r\n" +
	"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHello  all,\r\n\r\nbye \r\n\r\n"

var at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func signer(t testing.TB, alg string) (Signer, txt.Map) {
	t.Helper()
	key, err := Generate(alg)
	if err != nil {
		t.Fatal(err)
	}
	s := Signer{Domain: "example.com", Selector: "s1", Key: key}
	record, err := Record(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return s, txt.Map{Name(s.Domain, s.Selector): {record}}
}

func signed(t testing.TB, s Signer, raw string) []byte {
	t.Helper()
	m := message.Parse([]byte(raw))
	f, err := s.Sign(m, canon.BodySum(m.Body(), canon.Relaxed), at)
	if err != nil {
		t.Fatal(err)
	}
	return append(f.Raw, raw...)
}

// What we sign, we and go-msgauth verify, and the other way round.
func TestSignAndVerify(t *testing.T) {
	for _, alg := range []string{RSA, Ed25519} {
		t.Run(alg, func(t *testing.T) {
			s, dns := signer(t, alg)
			lookup := func(name string) ([]string, error) { return dns.LookupTXT(context.Background(), name) }
			ours := signed(t, s, post)
			for line := range strings.SplitSeq(string(ours), "\r\n") {
				if len(line) > 78 {
					t.Errorf("line of %d octets: %s", len(line), line)
				}
			}
			theirs, err := peer.VerifyWithOptions(bytes.NewReader(ours), &peer.VerifyOptions{LookupTXT: lookup})
			if err != nil || len(theirs) != 1 || theirs[0].Err != nil {
				t.Errorf("peer: %v, %+v", err, theirs[0])
			}
			if v := Verify(t.Context(), message.Parse(ours), dns, at); len(v) != 1 || v[0].Err != nil || v[0].Identity != "@example.com" {
				t.Errorf("own: %+v", v)
			}
			for _, form := range []peer.Canonicalization{peer.CanonicalizationSimple, peer.CanonicalizationRelaxed} {
				var out bytes.Buffer
				err := peer.Sign(&out, strings.NewReader(post), &peer.SignOptions{
					Domain: s.Domain, Selector: s.Selector, Signer: s.Key, HeaderCanonicalization: form, BodyCanonicalization: form,
				})
				if err != nil {
					t.Fatal(err)
				}
				if v := Verify(t.Context(), message.Parse(out.Bytes()), dns, time.Now()); len(v) != 1 || v[0].Err != nil {
					t.Errorf("signed by the peer, %s: %+v", form, v)
				}
			}
		})
	}
}

func TestChangesAreSeen(t *testing.T) {
	s, dns := signer(t, Ed25519)
	mail := string(signed(t, s, post))
	for name, tc := range map[string]struct {
		old, new string
		ok       bool
	}{
		"nothing":            {"", "", true},
		"blanks":             {"Hello  all,", "Hello all, ", true},
		"folding":            {"a  folded\r\n  subject", "a folded subject", true},
		"body":               {"bye", "Bye", false},
		"subject":            {"folded", "bold", false},
		"second From":        {"To: ", "From: b@example.org\r\nTo: ", false},
		"second Subject":     {"To: ", "Subject: x\r\nTo: ", false},
		"Content-Type":       {"To: ", "Content-Type: text/html\r\nTo: ", false},
		"unsubscribe":        {"/u/1", "/u/2", false},
		"one-click":          {"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n", "", false},
		"an unsigned field":  {"To: ", "X-Spam: no\r\nTo: ", true},
		"signature":          {"b=", "b=A", false},
		"domain":             {"d=example.com", "d=example.net", false},
		"version":            {"v=1", "v=2", false},
		"algorithm":          {"ed25519-sha256", "rsa-sha1", false},
		"no From in h=":      {"h=from:from", "h=to", false},
		"foreign i=":         {"s=s1", "i=x@example.net; s=s1", false},
		"length":             {"s=s1", "l=-1; s=s1", false},
		"other query method": {"s=s1", "q=other; s=s1", false},
	} {
		changed := strings.Replace(mail, tc.old, tc.new, 1)
		v := Verify(t.Context(), message.Parse([]byte(changed)), dns, at)
		if len(v) != 1 || (v[0].Err == nil) != tc.ok || v[0].Err != nil && !errors.Is(v[0].Err, ErrSignature) && !errors.Is(v[0].Err, ErrKey) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := Verify(t.Context(), message.Parse([]byte(mail)), dns, at.Add(-time.Hour)); v[0].Err == nil {
		t.Error("a signature from the future is valid")
	}
}

func TestParseRecord(t *testing.T) {
	s, dns := signer(t, RSA)
	good := dns[Name(s.Domain, s.Selector)][0]
	p := good[strings.Index(good, "p="):]
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	short, err := Record(small.Public())
	if err != nil {
		t.Fatal(err)
	}
	for record, ok := range map[string]bool{
		good: true, p: true, "k=rsa; " + p: true, "v=DKIM1; h=sha1:sha256; s=email; t=s:y; " + p + ";": true, short: true,
		"": false, "v=DKIM1; p=": false, "v=DKIM2; " + p: false, p + "; v=DKIM1": false, "v=DKIM1; h=sha1; " + p: false,
		"v=DKIM1; s=tlsrpt; " + p: false, "v=DKIM1; k=ed25519; " + p: false, "v=DKIM1; k=x; " + p: false, "v=DKIM1; p=AAAA": false,
	} {
		k, err := ParseRecord(record)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrKey) {
			t.Errorf("%.60s: %v", record, err)
		}
		if strings.Contains(record, "t=s:y") && !k.Strict {
			t.Errorf("flags: %+v", k)
		}
	}
}

func TestPEM(t *testing.T) {
	for _, alg := range []string{RSA, Ed25519} {
		key, err := Generate(alg)
		if err != nil {
			t.Fatal(err)
		}
		text, err := EncodePEM(key)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParsePEM(text)
		if err != nil || !back.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(key.Public()) {
			t.Errorf("%s: %v", alg, err)
		}
	}
	if _, err := Generate("rsa-sha1"); !errors.Is(err, ErrKey) {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := ParsePEM([]byte(bad)); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestZoneLine(t *testing.T) {
	got := ZoneLine("example.com", "s1", strings.Repeat("x", 300))
	want := `s1._domainkey.example.com. IN TXT ( "` + strings.Repeat("x", 255) + `" "` + strings.Repeat("x", 45) + `" )`
	if got != want {
		t.Error(got)
	}
}

func FuzzVerify(f *testing.F) {
	s, dns := signer(f, Ed25519)
	f.Add(signed(f, s, post))
	f.Add([]byte("DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=; b=x; l=9; t=1; x=0; i=@a\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, v := range Verify(t.Context(), message.Parse(raw), dns, at) {
			if v.Err != nil && !errors.Is(v.Err, ErrSignature) && !errors.Is(v.Err, ErrKey) {
				t.Errorf("neither valid nor not: %v", v.Err)
			}
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add("v=DKIM1; k=rsa; t=s; p=AAAA")
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseRecord(s); err == nil && k.Key == nil {
			t.Error("no key and no error")
		}
	})
}

// A list of 100,000 members in one variant costs one body sum and one signature; with
// copies that differ in their header, one signature each.
func BenchmarkSign(b *testing.B) {
	m := message.Parse([]byte(post))
	sum := canon.BodySum(m.Body(), canon.Relaxed)
	for _, alg := range []string{RSA, Ed25519} {
		b.Run(alg, func(b *testing.B) {
			s, _ := signer(b, alg)
			for b.Loop() {
				if _, err := s.Sign(m, sum, at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBodySum(b *testing.B) {
	body := bytes.Repeat([]byte("A line of some seventy characters, as mail has them, with  two blanks.\r\n"), 1400)
	for _, form := range []canon.Form{canon.Simple, canon.Relaxed} {
		b.Run(string(form), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				canon.BodySum(body, form)
			}
		})
	}
}
