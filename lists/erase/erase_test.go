package erase

import (
	"bytes"
	"io"
	"path"
	"slices"
	"testing"

	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
)

func parse(t testing.TB, s string) mailaddr.Address {
	t.Helper()
	a, err := mailaddr.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHide(t *testing.T) {
	for _, tc := range []struct{ address, text, want string }{
		{"an@example.com", "an@example.com", "xx@xxxxxxxxxxx"},
		{"an@example.com", "From: An <AN@Example.COM>\r\n", "From: An <xx@xxxxxxxxxxx>\r\n"},
		{"an@example.com", "joan@example.com", "joan@example.com"},
		{"an@example.com", "jo-an@example.com", "jo-an@example.com"},
		{"an@example.com", "an@example.com.au", "an@example.com.au"},
		{"an@example.com", "Write to an@example.com.", "Write to xx@xxxxxxxxxxx."},
		{"an@example.com", "ant-bounces+an=example.com@lists.example", "ant-bounces+xxxxxxxxxxxxxx@lists.example"},
		{"an@example.com", "=3Can@example.com=3E %3can@example.com", "=3Cxx@xxxxxxxxxxx=3E %3cxx@xxxxxxxxxxx"},
		{"an@example.com", `{"rcpt":"an@example.com","detail":"\u003can@example.com\u003e"}`, `{"rcpt":"xx@xxxxxxxxxxx","detail":"\u003cxx@xxxxxxxxxxx\u003e"}`},
		{"a&b@example.com", `a\u0026b@example.com`, `xxxxxxxx@xxxxxxxxxxx`},
		{"an@bücher.example", "an@xn--bcher-kva.example, an@bücher.example", "xx@xxxxxxxxxxxxxxxxxxxxx, xx@xxxxxxxxxxxxxxx"},
	} {
		ws := Address(parse(t, tc.address))
		got := string(ws.Hide([]byte(tc.text)))
		if got != tc.want {
			t.Errorf("%s in %q: %q, want %q", tc.address, tc.text, got, tc.want)
		}
		if ws.In([]byte(tc.text)) != (got != tc.text) {
			t.Errorf("%s in %q: In differs", tc.address, tc.text)
		}
	}
	if got := MessageID("<a1@x.example>").Hide([]byte("References: <A1@x.example> <ba1@x.example>")); string(got) != "References: <xx@xxxxxxxxx> <ba1@x.example>" {
		t.Errorf("%q", got)
	}
}

func TestFiles(t *testing.T) {
	f, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	big := bytes.Repeat([]byte("nothing here, line after line\n"), 100_000)
	for name, text := range map[string][]byte{
		"trace/a/one": []byte("{}\nrcpt an@example.com\nmore"),
		"trace/b/two": append(bytes.Clone(big), "an@example.com\nend"...),
		"trace/c":     big,
		"backup/x":    []byte("an@example.com"),
	} {
		if err := fsys.MkdirAll(f, path.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := fsys.WriteNew(f, name, writer(text)); err != nil {
			t.Fatal(err)
		}
	}
	ws := Address(parse(t, "an@example.com"))
	find := func() (out []string) {
		if err := (Search{FS: f, Skip: []string{"backup"}}).Find(t.Context(), ".", ws, func(name string) error { out = append(out, name); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := find()
	if want := []string{"trace/a/one", "trace/b/two"}; !slices.Equal(got, want) {
		t.Fatalf("found in %q, want %q", got, want)
	}
	for _, name := range got {
		if n, err := ws.Blank(f, name); n != 1 || err != nil {
			t.Errorf("%s: %d lines, %v", name, n, err)
		}
	}
	if got := find(); len(got) > 0 {
		t.Errorf("still in %q", got)
	}
	for name, want := range map[string][]byte{
		"trace/a/one": []byte("{}\nrcpt xx@xxxxxxxxxxx\nmore"),
		"trace/b/two": append(bytes.Clone(big), "xx@xxxxxxxxxxx\nend"...),
		"trace/c":     big,
	} {
		if data, err := fsys.ReadFile(f, name, 1<<30); err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s: %d octets, want %d; %v", name, len(data), len(want), err)
		}
	}
}

func FuzzHide(f *testing.F) {
	f.Add("an@example.com", []byte("x an@example.com y"))
	f.Add(`"a b"@x.example`, []byte(`\u003c"a b"@x.example`))
	f.Fuzz(func(t *testing.T, address string, text []byte) {
		a, err := mailaddr.Parse(address)
		if err != nil {
			return
		}
		ws := Address(a)
		got := ws.Hide(text)
		if len(got) != len(text) {
			t.Fatalf("%d octets became %d", len(text), len(got))
		}
		if again := ws.Hide(got); ws.In(got) && !bytes.Equal(again, got) {
			t.Fatalf("%q still has %q", got, a)
		}
	})
}

func writer(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

func TestHideMessage(t *testing.T) {
	ws := Address(parse(t, "an@example.com"))
	in := "Received: from x\nFrom: =?utf-8?q?An_B=C3=A9?=\n <an@example.com>\nSubject: An writes\nTo: Joe <joe@example.com>\n\nFrom: An <an@example.com>\nAn\n"
	want := "Received: from x\nFrom: xxxxxxxxxxxxxxxxxxxxxx\n <xx@xxxxxxxxxxx>\nSubject: An writes\nTo: Joe <joe@example.com>\n\nFrom: An <xx@xxxxxxxxxxx>\nAn\n"
	if got := string(ws.HideMessage([]byte(in))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(ws.HideMessage([]byte("From: Joe <joe@example.com>\n\n"))); got != "From: Joe <joe@example.com>\n\n" {
		t.Errorf("%q", got)
	}
}
