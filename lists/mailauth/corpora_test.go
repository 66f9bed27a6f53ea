package mailauth_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	peer "github.com/emersion/go-msgauth/dkim"

	"qrunner/lists/liststest"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/message"
)

// Whatever mail is signed, the octets that leave verify, here and with go-msgauth: the
// wire form of a signed message is the message.
func TestSignAnything(t *testing.T) {
	w := newWorld(t)
	lookup := func(name string) ([]string, error) { return w.dns.LookupTXT(context.Background(), name) }
	l := liststest.List(liststest.Members(), "dkim_selectors", "s2")
	n := 0
	for _, dir := range []string{"corpora", "repro"} {
		root := filepath.Join("../../../shared", dir)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 1<<20 {
				return err
			}
			p := liststest.Post(l, "anne@example.org", "")
			p.Message = message.Parse(raw)
			p.Message.Del("DKIM-Signature")
			if err := w.authority.Sign(t.Context(), p); err != nil {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			n++
			out := p.Message.Bytes()
			if !bytes.Equal(out, p.Message.Wire()) {
				t.Errorf("%s: the wire form is another", path)
			}
			if v := dkim.Verify(t.Context(), message.Parse(out), w.dns, liststest.Day()); len(v) != 1 || v[0].Err != nil {
				t.Errorf("%s: %+v", path, v)
			}
			v, err := peer.VerifyWithOptions(bytes.NewReader(out), &peer.VerifyOptions{LookupTXT: lookup})
			if err != nil || len(v) != 1 || v[0].Err != nil {
				t.Errorf("%s: go-msgauth: %v", path, err)
				for _, x := range v {
					t.Log(x.Err)
				}
			}
			return nil
		})
		if os.IsNotExist(err) {
			t.Skipf("no test mail in %s", root)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n < 100 {
		t.Errorf("only %d messages", n)
	}
}
