package authres

import (
	"testing"

	"qrunner/lists/message"
)

func TestVouches(t *testing.T) {
	for _, tc := range []struct {
		field string
		want  bool
	}{
		{"mx.example.com; dmarc=pass header.from=example.org", true},
		{"MX.Example.com 1; dkim=pass header.d=example.org header.s=x", true},
		{"mx.example.com; spf=pass smtp.mailfrom=example.org", false},
		{"mx.example.com; dmarc=fail header.from=example.org", false},
		{"mx.example.com; dmarc=pass header.from=example.net", false},
		{"mx.example.com; dkim=fail header.d=example.org; dkim=pass header.d=example.org", true},
		{"mx.example.com; dkim=pass header.d=org", false},
		{"mx.evil.example; dmarc=pass header.from=example.org", false},
		{"mx.example.com; none", false},
		{"mx.example.com", false},
		{";;;=", false},
		{"", false},
	} {
		m := message.Parse([]byte("Authentication-Results: " + tc.field + "\r\n\r\n"))
		if got := Vouches(m, []string{"mx.example.com"}, "example.org"); got != tc.want {
			t.Errorf("%q: %v", tc.field, got)
		}
		if Vouches(m, nil, "example.org") {
			t.Errorf("%q: nobody is trusted", tc.field)
		}
	}
}

func FuzzVouches(f *testing.F) {
	for _, s := range []string{"mx.example.com; dmarc=pass header.from=example.org", "a; b=c (", "mx.example.com 1; dkim=pass (x) header.d=\"y\"", ";=;=", "x; =", "x; a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Vouches(message.Parse([]byte("Authentication-Results: "+message.OneLine(s)+"\r\n\r\n")), []string{"mx.example.com"}, "example.org")
	})
}
