package canon

import (
	"bytes"
	"testing"

	"qrunner/lists/message"
)

func FuzzParseTags(f *testing.F) {
	f.Add("v=1; a=rsa-sha256; h=from:to; bh=; b=abc==;")
	f.Add("i=1; ;")
	f.Fuzz(func(t *testing.T, s string) {
		tags, err := ParseTags(s)
		if err != nil {
			return
		}
		var back string
		for _, tag := range tags {
			back += tag.Name + "=" + tag.Value + ";"
		}
		again, err := ParseTags(back)
		if err != nil || len(again) != len(tags) {
			t.Errorf("%q: written again: %v", s, err)
		}
	})
}

// A canonical form is one: taken again it stays; and what a mail system may do on
// the way (LF, folding of blanks, empty lines at the end) does not change it.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte("A: b\r\n c\r\nSig: a=1; b=x\r\n\r\nbody  text \r\n\r\n"))
	f.Add([]byte("A:\n\n\r\rx\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := message.Parse(raw)
		for i, field := range m.Fields() {
			for _, form := range []Form{Simple, Relaxed} {
				once := AppendField(nil, field.Raw, form)
				if field.Name != "" && !bytes.Equal(once, AppendField(nil, once, form)) {
					t.Errorf("%s form of %q is not stable", form, field.Raw)
				}
			}
			Digest(m.Fields(), []string{"a", "sig", "a"}, i, nil, Relaxed)
		}
		for _, form := range []Form{Simple, Relaxed} {
			if BodySum(m.Body(), form) != BodySum(bytes.ReplaceAll(m.Body(), []byte("\n"), []byte("\r\n")), form) && !bytes.Contains(m.Body(), []byte("\r\n")) {
				t.Errorf("%s: CRLF for LF changes the sum", form)
			}
		}
	})
}
