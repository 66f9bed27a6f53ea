package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking/fsys"
)

func open(t *testing.T) (fsys.FS, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func names(t *testing.T, f fsys.FS) []string {
	t.Helper()
	list, err := f.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name)
	}
	return out
}

func TestInitIsIdempotentAndSettlesRaces(t *testing.T) {
	f, _ := open(t)
	got := make([]Marker, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			m, err := Init(t.Context(), f)
			if err != nil {
				t.Error(err)
			}
			got[i] = m
		})
	}
	wg.Wait()
	again, err := Init(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range got {
		if m != again || len(m.ID) != 32 || m.Format != Format {
			t.Errorf("caller %d got %+v, the marker is %+v", i, m, again)
		}
	}
	want := []string{"hosts", "lists", "locks", "qrunner.site", "queue", "trace"}
	if d := cmp.Diff(want, names(t, f)); d != "" {
		t.Errorf("top of the share:\n%s", d)
	}
}

func TestCheckNamesTheRemedy(t *testing.T) {
	id := strings.Repeat("0a", 16)
	tests := []struct {
		name, text string
		want       error
		remedy     string
	}{
		{"missing", "-", ErrNoSite, "qrunner init"},
		{"newer", "id " + id + "\nformat 2\nsomething new\n", ErrNewer, "upgrade"},
		{"empty", "", ErrDamaged, "backup"},
		{"torn", "id 0a0a", ErrDamaged, "backup"},
		{"no format", "id " + id + "\n", ErrDamaged, "backup"},
		{"format 0", "id " + id + "\nformat 0\n", ErrDamaged, "backup"},
		{"twice", "id " + id + "\nformat 1\nformat 1\n", ErrDamaged, "backup"},
		{"huge", strings.Repeat("# x\n", 20_000), ErrDamaged, "backup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, dir := open(t)
			if tt.text != "-" {
				if err := os.WriteFile(filepath.Join(dir, File), []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Check(t.Context(), f)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.remedy) {
				t.Errorf("Check: %v, want %v with %q", err, tt.want, tt.remedy)
			}
		})
	}
}

func TestCheckPassesTroubleOn(t *testing.T) {
	f, _ := open(t)
	for _, e := range []syscall.Errno{syscall.ESTALE, syscall.EIO, syscall.EACCES} {
		bad := fsys.Observed(f, fsys.Hook{Before: func(op, name string) error { return e }})
		_, err := Check(t.Context(), bad)
		if !errors.Is(err, e) || errors.Is(err, ErrNoSite) {
			t.Errorf("Check under %v: %v", e, err)
		}
	}
}

// Whatever call of Init fails, before or after it was made, a second Init ends with
// one marker and no leftovers but those whose removal failed.
func TestInitSurvivesEveryFault(t *testing.T) {
	for _, done := range []bool{false, true} {
		for at := 0; ; at++ {
			f, _ := open(t)
			n := 0
			fail := func(op, name string) error {
				if n++; n-1 == at {
					return syscall.EIO
				}
				return nil
			}
			h := fsys.Hook{Before: fail}
			if done {
				h = fsys.Hook{After: func(op, name string, err error) error { return errors.Join(err, fail(op, name)) }}
			}
			first, ferr := Init(context.Background(), fsys.Observed(f, h))
			m, err := Init(context.Background(), f)
			if err != nil || ferr == nil && first != m {
				t.Fatalf("fault at call %d: first %+v %v, then %+v %v", at, first, ferr, m, err)
			}
			if n <= at {
				if ferr != nil {
					t.Fatalf("without a fault: %v", ferr)
				}
				break
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Marker{ID: strings.Repeat("ab", 16), Format: 1}.text()))
	f.Add([]byte("id x\nformat 99999999999\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(data)
		if err != nil {
			return
		}
		if again, err := parse([]byte(m.text())); err != nil || again != m {
			t.Errorf("%+v comes back as %+v, %v", m, again, err)
		}
	})
}
