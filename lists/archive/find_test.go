package archive

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking/fsys"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"2024-01/cur/e1:2,S": "Message-ID: <1@x.org>\n\na\n", "2024-02/cur/e2:2,S": "Message-ID: <2@x.org>\n\nb\n",
		"inbox/new/e1": "Message-ID: <1@x.org>\n\na\n", "inbox/cur/e2": "Message-ID: <2@x.org>\n\nb\n",
	} {
		name = filepath.Join(dir, "lists/ant@x.org/archive", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Find(t.Context(), f, "ant@x.org", "1@x.org")
	want := []string{"lists/ant@x.org/archive/inbox/new/e1", "lists/ant@x.org/archive/2024-01/cur/e1:2,S"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}
