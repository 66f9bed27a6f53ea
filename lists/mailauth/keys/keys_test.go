package keys

import (
	"context"
	"crypto"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/mailauth/dkim"
	"qrunner/locking/fsys"
)

func open(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return New(root), dir
}

func TestAddAndRead(t *testing.T) {
	s, dir := open(t)
	n, err := ParseName("Example.com", "s1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Signer(t.Context(), n); !errors.Is(err, ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
	made, err := s.Add(t.Context(), n, dkim.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), n, dkim.Ed25519); !errors.Is(err, ErrExists) {
		t.Errorf("twice: %v", err)
	}
	file := filepath.Join(dir, "keys/example.com/s1.pem")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for range 2 { // read, then remembered
		got, err := s.Signer(t.Context(), n)
		if err != nil || !got.Key.Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(made.Key.Public()) {
			t.Fatalf("%+v, %v", got, err)
		}
		os.Remove(file)
	}
}

func TestList(t *testing.T) {
	s, dir := open(t)
	if names, err := s.List(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
	for _, n := range []Name{{"b.example", "x"}, {"a.example", "s2"}, {"a.example", "s1"}} {
		if _, err := s.Add(t.Context(), n, dkim.Ed25519); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(dir, "keys/a.example/README"), nil, 0o600)
	os.WriteFile(filepath.Join(dir, "keys/a.example/bad.pem"), []byte("x"), 0o600)
	names, err := s.List(t.Context())
	want := []Name{{"a.example", "bad"}, {"a.example", "s1"}, {"a.example", "s2"}, {"b.example", "x"}}
	if d := cmp.Diff(want, names); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if _, err := s.Signer(t.Context(), want[0]); !errors.Is(err, dkim.ErrKey) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Add(ended, Name{"c.example", "s"}, dkim.RSA); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestParseName(t *testing.T) {
	for _, bad := range []Name{{"", "s"}, {"com", "s"}, {"example.com", ""}, {"../x.y", "s"}, {"a..b", "s"}, {"example.com", "a/b"}, {"example.com", ".x"}, {"example.com.", "s"}} {
		if _, err := ParseName(bad.Domain, bad.Selector); !errors.Is(err, ErrName) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
