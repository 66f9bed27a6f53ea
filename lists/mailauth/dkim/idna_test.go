package dkim_test

import (
	"strings"
	"testing"
	"time"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

// A signature may name its domain, selector and identity in U-labels (RFC 8616); the key
// is looked up under the A-labels.
func TestUnicodeDomain(t *testing.T) {
	key, err := dkim.Generate(dkim.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	record, err := dkim.Record(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	dns := txt.Map{"xn--schlssel-95a._domainkey.xn--mller-kva.example": {record}}
	for _, tc := range []struct{ domain, selector string }{
		{"xn--mller-kva.example", "xn--schlssel-95a"}, {"müller.example", "schlüssel"},
	} {
		m := message.Parse([]byte("From: a@" + tc.domain + "\r\nSubject: x\r\n\r\nHello\r\n"))
		f, err := dkim.Signer{Domain: tc.domain, Selector: tc.selector, Key: key}.Sign(m, canon.BodySum(m.Body(), canon.Relaxed), time.Unix(1700000000, 0))
		if err != nil {
			t.Fatal(err)
		}
		raw := string(f.Raw) + string(m.Bytes())
		v := dkim.Verify(t.Context(), message.Parse([]byte(raw)), dns, time.Unix(1700000001, 0))
		if len(v) != 1 || v[0].Err != nil || v[0].Domain != "xn--mller-kva.example" {
			t.Errorf("%s: %+v\n%s", tc.domain, v, raw)
		}
		if v = dkim.Verify(t.Context(), message.Parse([]byte(strings.Replace(raw, "Hello", "Hallo", 1))), dns, time.Unix(1700000001, 0)); v[0].Err == nil {
			t.Errorf("%s: a changed body verifies", tc.domain)
		}
	}
}
