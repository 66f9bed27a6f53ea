package copies_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/lists/liststest"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/message"
)

// Every copy of every message of the handlers' golden files keeps the RFCs, is signed, has
// a one-click URL, and names its recipient above and below the text, once.
func TestCopiesKeepTheRFCs(t *testing.T) {
	files, err := filepath.Glob("../../lists/handlers/testdata/golden/in/*.eml")
	if err != nil || len(files) < 30 {
		t.Fatal("no messages", err)
	}
	members := liststest.Members()
	members[0].Name = "Änne Person"
	members[1].Name = "Bart \"x\" $listname {{.}} " + strings.Repeat("long ", 60)
	w := newWorld(t, members, "personalize", "full", "header", "For $user_email.", "footer", "To $user_name, $user_email\n$user_optionsurl", "dkim_selectors", "e1")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := w.fanout(string(raw))
		maker, err := w.config().Open(t.Context(), f)
		if err != nil || maker == nil {
			t.Fatal(file, err)
		}
		came := bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
		var scratch []byte
		for _, r := range f.Recipients {
			out, err := maker.Copy(&scratch, r)
			if err != nil {
				t.Fatal(file, err)
			}
			for _, broken := range liststest.BreaksRFC(out, came) {
				t.Errorf("%s for %s: %s", file, r.Address, broken)
			}
			m := message.Parse(out)
			if v := dkim.Verify(t.Context(), m, w.dns, liststest.Day()); len(v) == 0 || v[0].Err != nil {
				t.Errorf("%s for %s: %+v", file, r.Address, v)
			}
			if !m.Has("List-Unsubscribe-Post") {
				t.Errorf("%s for %s: no one-click", file, r.Address)
			}
			text := shownText(t, m)
			for _, want := range []string{"For " + string(r.Address) + ".", ", " + string(r.Address) + "\r\n"} {
				if n := strings.Count(text, want); n != 1 {
					t.Errorf("%s for %s: %d times %q in %q", file, r.Address, n, want, text)
				}
			}
		}
	}
}

// shownText is the text of all plain parts.
func shownText(t *testing.T, m *message.Message) string {
	t.Helper()
	root, err := m.Structure()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for leaf := range root.Leaves {
		if text, ok := leaf.Text(m.Body()); ok && leaf.Type.Media == "text/plain" {
			b.WriteString(text + "\r\n")
		}
	}
	return b.String()
}
