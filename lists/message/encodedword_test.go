package message

import (
	"strings"
	"testing"
)

func TestDecodeHeader(t *testing.T) {
	for _, tc := range [][2]string{
		{"plain", "plain"},
		{"=?utf-8?Q?caf=C3=A9?=", "café"},
		{"=?UTF-8?b?Y2Fmw6k=?= x", "café x"},
		{"=?iso-8859-1?q?caf=E9_au?= lait", "café au lait"},
		{"=?utf-8?q?a?= =?utf-8?q?b?=", "ab"},
		{"=?utf-8?q?a?=\t =?utf-8?q?b?= c", "ab c"},
		{"=?utf-8*de?q?a?=", "a"},
		{"=?x-klingon-7?B?dGVzdA==?= middle =?utf-8?X?no?= tail", "=?x-klingon-7?B?dGVzdA==?= middle =?utf-8?X?no?= tail"},
		{"=?utf-8?q?a?= =?x-no?q?b?=", "a =?x-no?q?b?="},
		{"=?utf-8?q?caf=E9?=", "=?utf-8?q?caf=E9?="},
		{"Gr\xfc\xdfe", "Grüße"},
		{"=?", "=?"}, {"=??=", "=??="}, {"=?a?q?", "=?a?q?"}, {"=?utf-8?q??=", ""},
		{"=?utf-8?q?x=0D=0ABcc:_v?=", "x\r\nBcc: v"},
		{"=?utf-8?b?YW?=", "a"},
	} {
		if got := DecodeHeader(tc[0]); got != tc[1] {
			t.Errorf("DecodeHeader(%q) = %q, want %q", tc[0], got, tc[1])
		}
	}
}

func TestEncodeHeader(t *testing.T) {
	for _, text := range []string{"", "plain", "café", strings.Repeat("ü", 500), "a\r\nBcc: b", "x =?utf-8?q?a?= y", "emoji 👍🏽"} {
		enc := EncodeHeader(text)
		for w := range strings.SplitSeq(enc, " ") {
			if strings.HasPrefix(w, "=?") && len(w) > maxWord {
				t.Errorf("word of %d octets", len(w))
			}
		}
		if strings.ContainsAny(enc, "\r\n\x00") {
			t.Errorf("%q has a line end", enc)
		}
		if got := DecodeHeader(enc); got != OneLine(text) {
			t.Errorf("%q came back as %q", text, got)
		}
	}
}

func TestFold(t *testing.T) {
	long := strings.Repeat("x", 2500)
	for _, tc := range [][2]string{
		{"", "X:\r\n"},
		{"a b", "X: a b\r\n"},
		{"  a  b ", "X: a  b\r\n"},
		{strings.Repeat("abcdefghi ", 10), "X: " + strings.TrimRight(strings.Repeat("abcdefghi ", 7), " ") + "\r\n " + "abcdefghi abcdefghi abcdefghi\r\n"},
		{long, "X: " + long[:995] + "\r\n " + long[995:1992] + "\r\n " + long[1992:] + "\r\n"},
		{"a" + strings.Repeat(" ", 900) + "b", "X: a b\r\n"},
	} {
		f := NewField("X", tc[0])
		if string(f.Raw) != tc[1] {
			t.Errorf("fold %.40q = %q, want %q", tc[0], f.Raw, tc[1])
		}
	}
	// URIs are never broken, whatever their length.
	uri := "<https://lists.example.com/" + strings.Repeat("t", 400) + ">"
	f := NewField("List-Unsubscribe", uri+", <mailto:ant-leave@lists.example.com>")
	if want := "List-Unsubscribe: " + uri + ",\r\n <mailto:ant-leave@lists.example.com>\r\n"; string(f.Raw) != want {
		t.Errorf("got %q", f.Raw)
	}
}

func TestLongLines017(t *testing.T) {
	for _, name := range []string{"017-long-lines.eml", "017-long-lines.subject.eml"} {
		m := repro(t, name)
		checkWire(t, name, m)
		again := Parse(m.Wire())
		for _, n := range []string{"References", "Subject"} {
			if a, b := DecodeHeader(m.Get(n)), DecodeHeader(again.Get(n)); a != b {
				t.Errorf("%s: %s reads differently: %.80q, %.80q", name, n, a, b)
			}
		}
	}
}
