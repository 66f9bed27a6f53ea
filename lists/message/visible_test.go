package message

import (
	"strings"
	"testing"
)

func TestReadHTML(t *testing.T) {
	for in, want := range map[string]string{
		"<html><head><title>t</title><style>p{}</style></head><body><p>accept</p></body></html>": "accept\n",
		"a<br>b<div>c</div>d":                           "a\nb\nc\nd",
		"<b>ac</b>cept&nbsp;&amp; &#x61;lways &c; &":    "accept & always &c; &",
		"mine<blockquote>yours<br>all</blockquote>mine": "mine\n> yours\n> all\nmine",
		"<script>if (a<b) {}</script>x<!-- c -->y":      "xy",
		"caf\xe9 <p": "caf\xe9 ",
	} {
		if got := ReadHTML([]byte(in)).Text; got != want {
			t.Errorf("%q reads %q, want %q", in, got, want)
		}
	}
}

func TestCutHTML(t *testing.T) {
	src := []byte("<p>Approved:&nbsp;<b>s3cret</b>-pw</p><p>Hello</p>")
	v := ReadHTML(src)
	end := strings.Index(v.Text, "\n")
	if got := string(v.Cut(src, 0, end)); got != "<p><b></b></p><p>Hello</p>" {
		t.Errorf("%q", got)
	}
}

func FuzzReadHTML(f *testing.F) {
	for _, s := range []string{"<p>x</p>", "<blockquote>&nbsp;", "<title>x", "a<", "<!doctype html><![CDATA[x]]>", "\x00<\x00>", "<plaintext>a<b>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v := ReadHTML(src)
		if len(v.Text) != len(v.from) || len(v.Text) != len(v.to) {
			t.Fatalf("%d octets, %d and %d places", len(v.Text), len(v.from), len(v.to))
		}
		if got := v.Cut(src, 0, len(v.Text)); len(got) > len(src) {
			t.Errorf("%q became %q", src, got)
		}
	})
}
