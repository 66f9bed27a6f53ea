package message

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzHeader(f *testing.F) {
	for _, s := range []string{"From: a\r\n\r\nb", "\r\r\n", "a: b\n c\n\nx", "From x\n", "a\x00: b", "x\ny: z\n", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b--"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := Parse(raw)
		if !bytes.Equal(m.Bytes(), raw) {
			t.Fatal("not written as parsed")
		}
		checkWire(t, "fuzz", m)
		if root, err := m.Structure(); err == nil {
			for p := range root.Leaves {
				p.Text(m.Body())
			}
		}
	})
}

func FuzzAddressList(f *testing.F) {
	for _, s := range []string{"a@b", `"x" <a@b>, c@d`, "g: a@b;", "(((", `"`, "<@a:b@c>", "a@b <c@d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, b := range ParseAddressList(s) {
			if strings.ContainsAny(string(b.Address), " \r\n\x00<>") && !strings.HasPrefix(string(b.Address), `"`) {
				t.Errorf("address %q out of %q", b.Address, s)
			}
			if !utf8.ValidString(b.Name) {
				t.Errorf("name %q", b.Name)
			}
		}
	})
}

func FuzzEncodedWord(f *testing.F) {
	for _, s := range []string{"=?utf-8?q?a?=", "=?utf-8?b?YQ==?=", "=?x?y?z?=", "a =?", "\xe9", "=?iso-2022-jp?b?GyRC?="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := DecodeHeader(s)
		if !utf8.ValidString(text) {
			t.Errorf("%q decodes to no UTF-8", s)
		}
		enc := EncodeHeader(text)
		if strings.ContainsAny(enc, "\r\n\x00") {
			t.Errorf("%q", enc)
		}
		if got := DecodeHeader(enc); got != OneLine(text) {
			t.Errorf("%q came back as %q", text, got)
		}
		if strings.Count(string(NewField("X", s).Raw), "\n") > 1+len(s)/2 {
			t.Error("more lines than words")
		}
	})
}
