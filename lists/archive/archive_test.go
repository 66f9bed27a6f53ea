package archive

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking/fsys"
)

func TestName(t *testing.T) {
	at := time.Date(2024, 1, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
	if got := Name(at, "e"); got != "archive/2023-12/cur/e:2,S" {
		t.Error(got)
	}
}

func TestClean(t *testing.T) {
	if got := Clean([]byte("a: b\r\n\r\nx\x00y\r\n")); string(got) != "a: b\n\nxy\n" {
		t.Errorf("%q", got)
	}
}

func TestExportMbox(t *testing.T) {
	dir := t.TempDir()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var b bytes.Buffer
	if err := ExportMbox(ctx, f, "ant@x.org", &b); err != nil || b.Len() != 0 {
		t.Fatalf("a list without archive: %q, %v", b.String(), err)
	}
	for _, p := range []struct {
		day  time.Time
		text string
	}{
		{time.Date(2024, 2, 1, 9, 5, 0, 0, time.UTC), "From: b@x.org\n\nFrom here\n>From there\n> From\nFrom\n"},
		{time.Date(2024, 1, 31, 0, 0, 1, 0, time.UTC), "From: a@x.org\n\nsecond, no newline"},
		{time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC), "Subject: nobody\n\nfirst\n"},
	} {
		name := filepath.Join(dir, "lists/ant@x.org", Name(p.day, fmt.Sprintf("%016x.00000001.h.0000000000000001", p.day.UnixMicro())))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(p.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{"notes", "2024-13"} {
		if err := os.MkdirAll(filepath.Join(dir, "lists/ant@x.org/archive", other), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := ExportMbox(ctx, f, "ant@x.org", &b); err != nil {
		t.Fatal(err)
	}
	want := "From MAILER-DAEMON Wed Jan 31 00:00:00 2024\nSubject: nobody\n\nfirst\n\n" +
		"From a@x.org Wed Jan 31 00:00:01 2024\nFrom: a@x.org\n\nsecond, no newline\n\n" +
		"From b@x.org Thu Feb  1 09:05:00 2024\nFrom: b@x.org\n\n>From here\n>>From there\n> From\nFrom\n\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
