package canon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/message"
)

// The examples of RFC 6376 §3.4.5, and the corners beside them.
func TestBody(t *testing.T) {
	for _, tc := range []struct{ name, body, simple, relaxed string }{
		{"rfc", " C \r\nD \t E\r\n\r\n\r\n", " C \r\nD \t E\r\n", " C\r\nD E\r\n"},
		{"empty", "", "\r\n", ""},
		{"empty lines", "\r\n\r\n", "\r\n", ""},
		{"blank lines", " \r\n\t\r\n", " \r\n\t\r\n", ""},
		{"no end", "a", "a\r\n", "a\r\n"},
		{"LF", "a\n\nb\n\n", "a\r\n\r\nb\r\n", "a\r\n\r\nb\r\n"},
		{"bare CR", "a\rb\r\r\n", "a\rb\r\r\n", "a\rb\r\r\n"},
		{"leading", "\t \ta\r\n", "\t \ta\r\n", " a\r\n"},
	} {
		for f, want := range map[Form]string{Simple: tc.simple, Relaxed: tc.relaxed} {
			got, n := BodySumLimit([]byte(tc.body), f, -1)
			if got != sha256.Sum256([]byte(want)) || n != int64(len(want)) {
				t.Errorf("%s, %s: not the sum of %q (length %d)", tc.name, f, want, n)
			}
			for limit := range int64(len(want)) {
				if got, _ := BodySumLimit([]byte(tc.body), f, limit); got != sha256.Sum256([]byte(want[:limit])) {
					t.Errorf("%s, %s: wrong sum of the first %d octets", tc.name, f, limit)
				}
			}
		}
	}
	long := bytes.Repeat([]byte("0123456789"), 5000)
	if BodySum(long, Relaxed) != sha256.Sum256(append(long, "\r\n"...)) {
		t.Error("long line")
	}
}

func TestField(t *testing.T) {
	for raw, want := range map[string][2]string{
		"A: X\r\n":                  {"A: X\r\n", "a:X\r\n"},
		"B : Y\t\r\n\tZ  \r\n":      {"B : Y\t\r\n\tZ  \r\n", "b:Y Z\r\n"},
		"C:\n x\n  y\n":             {"C:\r\n x\r\n  y\r\n", "c:x y\r\n"},
		"D:\r\n":                    {"D:\r\n", "d:\r\n"},
		"E: a\rb\r\n":               {"E: a\rb\r\n", "e:a\rb\r\n"},
		"F: " + "x \r\n \r\n y\r\n": {"F: x \r\n \r\n y\r\n", "f:x y\r\n"},
	} {
		got := [2]string{string(AppendField(nil, []byte(raw), Simple)), string(AppendField(nil, []byte(raw), Relaxed))}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", raw, d)
		}
		if got := string(AppendField([]byte("x "), []byte(raw), Relaxed)); got != "x "+want[1] {
			t.Errorf("%q behind other octets: %q", raw, got)
		}
	}
}

func TestWithoutB(t *testing.T) {
	for raw, want := range map[string]string{
		"DKIM-Signature: v=1; b=abc\r\n def; bh=x\r\n": "DKIM-Signature: v=1; b=; bh=x\r\n",
		"DKIM-Signature: bh=b=c; b = abc=\r\n":         "DKIM-Signature: bh=b=c; b =",
		"X: b=\r\n":                                    "X: b=",
		"X: a=1\r\n":                                   "X: a=1\r\n",
		"X: b\r\n":                                     "X: b\r\n",
		"b: y; b=x;\n":                                 "b: y; b=;\n",
	} {
		in := []byte(raw)
		if got := string(withoutB(in)); got != want || string(in) != raw {
			t.Errorf("%q: %q, input now %q", raw, got, in)
		}
	}
}

func TestPickFromBelow(t *testing.T) {
	m := message.Parse([]byte("A: 1\nB: 2\na: 3\nSig: own\nA: 4\n\n"))
	got := pick(m.Fields(), []string{"a", "c", "A", "sig", "b", "a", "a"}, 3)
	if d := cmp.Diff([]int{4, 2, 1, 0}, got); d != "" {
		t.Error(d)
	}
}

func TestParseTags(t *testing.T) {
	got, err := ParseTags(" v=1 ;a =x y;\r\n b= a\r\n b=;e=; ")
	if d := cmp.Diff(Tags{{"v", "1"}, {"a", "x y"}, {"b", "a\r\n b="}, {"e", ""}}, got); d != "" || err != nil {
		t.Errorf("%s %v", d, err)
	}
	for _, bad := range []string{"", ";", "a=1;;b=2", "a=1;a=2", "1=2", "a", "=x", "a=\x00", "a-b=c"} {
		if _, err := ParseTags(bad); !errors.Is(err, ErrTags) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if b, ok := got.Bytes("b"); ok {
		t.Errorf("base64 %q", b)
	}
	h, _ := ParseTags("h= from : To:\r\n date")
	if d := cmp.Diff([]string{"from", "To", "date"}, h.List("h")); d != "" {
		t.Error(d)
	}
}

func TestParseForms(t *testing.T) {
	for c, want := range map[string][2]Form{
		"relaxed": {Relaxed, Simple}, "simple/relaxed": {Simple, Relaxed}, "": {}, "relaxed/": {}, "Relaxed/simple": {}, "a/b": {},
	} {
		h, b, err := ParseForms(c)
		if h != want[0] || b != want[1] || (err == nil) != (want[0] != "") {
			t.Errorf("%q: %s/%s, %v", c, h, b, err)
		}
	}
}
