package authres

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/message"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Results{
		"mx.example.com": {ID: "mx.example.com"}, "mx.example.com 1; none": {ID: "mx.example.com"}, "mx; (x) none ;": {ID: "mx"},
		`mx.example.com (our; MX) ; dkim=pass (1024-bit; key) header.i=@d1.example header.b="a\"b"; SPF=Fail reason="no; way" smtp.mailfrom=a@b.example`: {
			ID: "mx.example.com",
			Results: []Result{
				{Method: "dkim", Value: "pass", Props: []Property{{"header", "i", "@d1.example"}, {"header", "b", `a"b`}},
					Text: `dkim=pass (1024-bit; key) header.i=@d1.example header.b="a\"b"`},
				{Method: "spf", Value: "fail", Reason: "no; way", Props: []Property{{"smtp", "mailfrom", "a@b.example"}},
					Text: `SPF=Fail reason="no; way" smtp.mailfrom=a@b.example`},
			},
		},
		`"a b"; dkim/1 = neutral (x(y)z)  policy.p = x/y`: {ID: "a b", Results: []Result{
			{Method: "dkim", Value: "neutral", Props: []Property{{"policy", "p", "x/y"}}, Text: "dkim/1 = neutral (x(y)z) policy.p = x/y"}}},
	} {
		got, err := Parse(in)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", in, err, d)
		}
	}
	for _, bad := range []string{"", ";", "(x)", "mx 2; none", "mx; dkim", "mx; =x", `mx; a="b`, "mx; a=b c", `"mx`, "mx; a=b; ;;c", "mx; none=x y"} {
		if r, err := Parse(bad); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %+v, %v", bad, r, err)
		}
	}
}

func TestFormat(t *testing.T) {
	r := Results{ID: "lists.example.org", Results: []Result{
		{Method: "dkim", Value: Fail, Reason: "the body\r\nX: is another", Props: []Property{{"header", "d", "a.example"}, {"header", "b", "a/b="}}},
		{Method: "arc", Value: None},
		{Method: "x", Value: Pass, Text: "x=pass (as it was)"},
		{Method: "dkim", Value: Pass, Props: []Property{{"header", "i", "@a.example"}, {"header", "i", `"x y"@a.example`}}},
	}}
	want := `lists.example.org; dkim=fail reason="the body  X: is another" header.d=a.example header.b="a/b="; arc=none; x=pass (as it was); dkim=pass header.i=@a.example header.i="\"x y\"@a.example"`
	got := Format(r)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	back, err := Parse(got)
	if err != nil || len(back.Results) != 4 || back.Results[0].Get("header", "b") != "a/b=" || back.Results[3].Props[1].Value != `"x y"@a.example` {
		t.Errorf("%+v, %v", back, err)
	}
	if s := Format(Results{ID: "a b"}); s != `"a b"; none` {
		t.Error(s)
	}
}

func TestOfAndRemove(t *testing.T) {
	m := message.Parse([]byte("Authentication-Results: Lists.example.org; arc=none\r\n" +
		"authentication-results: mx.example.net; spf=pass\r\n" +
		"Authentication-Results: =?nonsense\r\nAuthentication-Results: lists.example.org 9; x=y\r\n" +
		"Authentication-Results: (hidden) lists.example.org\r\n ; dkim=pass;\r\nSubject: x\r\n\r\n"))
	got := Of(m, "lists.example.org", "other")
	if len(got) != 1 || len(got[0].Results) != 2 || got[0].Results[1].Method != "dkim" {
		t.Errorf("%+v", got)
	}
	Remove(m, "LISTS.example.org")
	if d := cmp.Diff("authentication-results: mx.example.net; spf=pass\r\nSubject: x\r\n\r\n", string(m.Bytes())); d != "" {
		t.Error(d)
	}
}

func TestCovers(t *testing.T) {
	for _, tc := range []struct {
		signer, domain string
		want           bool
	}{
		{"Example.org", "example.ORG", true}, {"example.org", "a.b.example.org", true}, {"a.example.org", "example.org", false},
		{"org", "example.org", false}, {"co.uk", "example.co.uk", false}, {"ample.org", "example.org", false}, {"", "", false}, {"", "a.org", false},
	} {
		if got := covers(tc.signer, tc.domain); got != tc.want {
			t.Errorf("%s for %s: %v", tc.signer, tc.domain, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`mx.example.com 1; dkim=pass (x) header.d=a.b; spf=fail reason="y" smtp.mailfrom=a@b`)
	f.Add(`"a" ; none`)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(message.OneLine(s))
		if err != nil {
			return
		}
		for i := range r.Results {
			r.Results[i].Text = ""
		}
		again, err := Parse(Format(r))
		if err != nil {
			t.Fatalf("%q: written again %q: %v", s, Format(r), err)
		}
		for i := range again.Results {
			again.Results[i].Text = ""
		}
		if d := cmp.Diff(r, again); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	})
}
