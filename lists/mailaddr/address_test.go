package mailaddr

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"anne@example.org":                 "anne@example.org",
		"Anne.P+tag@EXAMPLE.org":           "Anne.P+tag@example.org",
		"anne@example.org.":                "anne@example.org",
		"a@bücher.example":                 "a@xn--bcher-kva.example",
		"ü@example.org":                    "ü@example.org",
		"a@host_1.example":                 "a@host_1.example",
		`"a b\"c@d"@example.org`:           `"a b\"c@d"@example.org`,
		"a@[192.0.2.1]":                    "a@[192.0.2.1]",
		"a@[IPv6:2001:DB8::1]":             "a@[ipv6:2001:db8::1]",
		strings.Repeat("x", 90) + "@a.b":   strings.Repeat("x", 90) + "@a.b",
		"":                                 "",
		"anne":                             "",
		"@example.org":                     "",
		"anne@":                            "",
		"anne@@example.org":                "",
		".anne@example.org":                "",
		"an..ne@example.org":               "",
		"anne.@example.org":                "",
		"an ne@example.org":                "",
		"anne@exam ple.org":                "",
		"anne@example..org":                "",
		"anne\r\n@example.org":             "",
		"anne@example.org\r\nBcc: x":       "",
		"an\x00ne@example.org":             "",
		`"anne@example.org`:                "",
		`""@example.org`:                   "",
		`"a"b@example.org`:                 "",
		"a@[1.2.3.4":                       "",
		"a@[]]":                            "",
		"caf\xe9@example.org":              "",
		"a@" + strings.Repeat("x.", 200):   "",
		strings.Repeat("x", 2000) + "@a.b": "",
	} {
		got, err := Parse(in)
		if string(got) != want || (want == "") != errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%.60q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestParsePath(t *testing.T) {
	for in, want := range map[string]string{
		"<>": "", "": "", "<a@b.org>": "a@b.org", "a@b.org": "a@b.org", " <@x.org,@y.org:a@b.org> ": "a@b.org",
	} {
		if got, err := ParsePath(in); err != nil || string(got) != want {
			t.Errorf("ParsePath(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"<a@b.org", "a@b.org>", "<<a@b.org>>", "<@x.org>", "< >"} {
		if got, err := ParsePath(in); err == nil {
			t.Errorf("ParsePath(%q) = %q", in, got)
		}
	}
}

func TestParts(t *testing.T) {
	a, err := Parse(`"x@y"@EXAMPLE.org`)
	if err != nil || a.Local() != `"x@y"` || a.Domain() != "example.org" || a.Key() != string(a) || !a.ASCII() || a.Null() {
		t.Errorf("%q: %v", a, err)
	}
	if b := Address("Ü@x.org"); b.Key() != "ü@x.org" || b.ASCII() {
		t.Errorf("%q", b.Key())
	}
	if n := Address(""); !n.Null() || n.Local() != "" || n.Domain() != "" {
		t.Error("null address")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a@b.org", `"a\"b"@c.d`, "a@[1.2.3.4]", "ü@bücher.example", "@", "a@b@c", "a@xn--a", "a@\u00df.de"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			return
		}
		if strings.ContainsAny(string(a), "\r\n\x00") || strings.ContainsAny(a.Domain(), " <>,;:@") && a.Domain()[0] != '[' {
			t.Errorf("Parse(%q) = %q", s, a)
		}
		if again, err := Parse(string(a)); err != nil || again != a {
			t.Errorf("%q parsed again: %q, %v", a, again, err)
		}
		if path, err := ParsePath("<" + string(a) + ">"); err != nil || path != a {
			t.Errorf("path of %q: %q, %v", a, path, err)
		}
	})
}
