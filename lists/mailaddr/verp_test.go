package mailaddr

import (
	"strings"
	"testing"
)

func TestEncodeVERP(t *testing.T) {
	const bounces = Address("ant-bounces@example.com")
	long := Address("longer-than-15-octets-bounces@lists.example.com")
	tests := []struct {
		name    string
		bounces Address
		rcpt    Address
		member  uint64
		want    Address
	}{
		{"mailman form", bounces, "bart@example.org", 7, "ant-bounces+bart=example.org@example.com"},
		{"equals sign in the local part", bounces, "a=b@example.org", 7, "ant-bounces+a=b=example.org@example.com"},
		{"plus in the local part", bounces, "bart+x@example.org", 7, "ant-bounces+bart+x=example.org@example.com"},
		{"null sender stays null", "", "bart@example.org", 7, ""},
		{"64 octets fit", "l-bounces@e.org", Address(strings.Repeat("a", 48) + "@e.org"), 1,
			Address("l-bounces+" + strings.Repeat("a", 48) + "=e.org@e.org")},
		{"too long", long, "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff@a-rather-long-domain-name.example.org", 1234,
			"longer-than-15-octets-bounces+ya.SUM@lists.example.com"},
		{"no room at all", Address(strings.Repeat("l", 60) + "-bounces@e.org"), "bart@example.org", 1,
			Address(strings.Repeat("l", 60) + "-bounces@e.org")},
	}
	for _, tt := range tests {
		want := Address(strings.Replace(string(tt.want), "SUM", checkSum(tt.rcpt), 1))
		if got := EncodeVERP(tt.bounces, tt.rcpt, tt.member); got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

func TestVERPTokenForms(t *testing.T) {
	for _, rcpt := range []Address{"дора@example.org", `"a b"@example.org`, "x@[192.0.2.1]"} {
		got := EncodeVERP("ant-bounces@example.com", rcpt, 35)
		if !got.ASCII() || strings.ContainsAny(got.Local(), `"[ =`) {
			t.Errorf("%s: %s", rcpt, got)
		}
		_, extra, _ := strings.Cut(got.Local(), "+")
		v, ok := DecodeVERP(strings.ToUpper(extra))
		if !ok || v.Member != 35 || !v.Names(rcpt) || v.Names("other@example.org") {
			t.Errorf("%s: %s decodes to %+v, %v", rcpt, extra, v, ok)
		}
	}
}

func TestTokenVERP(t *testing.T) {
	for _, rcpt := range []Address{"bart@example.org", "дора@example.org", Address(strings.Repeat("a", 64) + "@example.org")} {
		got := TokenVERP("ant-bounces@example.com", rcpt, 35)
		if want := Address("ant-bounces+z." + checkSum(rcpt) + "@example.com"); got != want {
			t.Errorf("%s: %s, want %s", rcpt, got, want)
		}
	}
	if got := TokenVERP("", "bart@example.org", 1); got != "" {
		t.Error(got)
	}
}

func TestDecodeVERPRefuses(t *testing.T) {
	for _, s := range []string{"", "bart", "=", "=example.org", "bart=", "1.abc", "x y=example.org", "1.abcdefg1", "!.abcdefgh",
		"0123456789012345678901234567890123456789"} {
		if v, ok := DecodeVERP(s); ok {
			t.Errorf("DecodeVERP(%q) = %+v", s, v)
		}
	}
}

func FuzzVERP(f *testing.F) {
	for _, s := range []string{"bart@example.org", "a=b@c.d", `"x y"@z.example`, "ä@ö.example", "a@[1.2.3.4]",
		strings.Repeat("a", 70) + "@example.org"} {
		f.Add(s, uint64(3))
	}
	f.Fuzz(func(t *testing.T, s string, id uint64) {
		_, _ = DecodeVERP(s)
		rcpt, err := Parse(s)
		if err != nil {
			t.Skip()
		}
		got := EncodeVERP("list-bounces@example.com", rcpt, id)
		if len(got.Local()) > MaxLocal || !got.ASCII() {
			t.Fatalf("%q: %q", rcpt, got)
		}
		if _, err := Parse(string(got)); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		_, extra, _ := strings.Cut(got.Local(), "+")
		v, ok := DecodeVERP(extra)
		if !ok || !v.Names(rcpt) || (v.Address.Null() && v.Member != id) {
			t.Fatalf("%q: %q decodes to %+v, %v", rcpt, extra, v, ok)
		}
	})
}
