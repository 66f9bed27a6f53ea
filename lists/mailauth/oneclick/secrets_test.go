package oneclick

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// A token outlives a change of the secret by 60 days and more, and not for ever; no host
// makes tokens with a secret that another may not have seen yet.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	root, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	at := now
	clock := func() time.Time { return at }
	s, other := NewSecrets(root, clock), NewSecrets(root, clock)
	l := &lists.List{ID: ant, Incarnation: "i1"}
	if _, err := s.Key(t.Context(), l); !errors.Is(err, ErrNoSecret) {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "keys/unsubscribe/[0-9]*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	token := func(s *Secrets) string {
		t.Helper()
		k, err := s.Key(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return k.Token(7, at)
	}
	good := func(when, token string, want bool) {
		t.Helper()
		for _, s := range []*Secrets{s, other} {
			if m, err := s.Check(t.Context(), l, token); (err == nil && m == 7) != want || err != nil && !errors.Is(err, ErrToken) {
				t.Errorf("%s: %d, %v", when, m, err)
			}
		}
	}
	first := token(s)
	good("new", first, true)
	at = at.Add(100 * day)
	if err := s.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if token(s) != token(other) {
		t.Error("a new secret is used at once")
	}
	at = at.Add(settle)
	second := token(s)
	good("just made with the new secret", second, true)
	good("after the rotation", first, true)
	at = at.Add(61 * day)
	good("61 days after it", first, true)
	at = at.Add(100 * day)
	good("long after it", first, false)
	good("made with the second", second, true)
	if _, err := s.Check(t.Context(), &lists.List{ID: "bee@lists.example.com", Incarnation: "i1"}, second); !errors.Is(err, ErrToken) {
		t.Errorf("another list: %v", err)
	}
}
