package dkim

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

// cases are chasquid's DKIM cases: message, DNS, expected result.
const cases = "../../../../shared/corpora/chasquid-dkim/internal/dkim/testdata"

// zone answers as a .dns file says.
type zone map[string][]string

func (z zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if v := z[name]; len(v) == 1 && v[0] == "TEMPERROR" {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	} else if len(v) == 1 && v[0] == "PERMERROR" {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return txt.Map(z).LookupTXT(ctx, name)
}

func readZone(t *testing.T, file string) zone {
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return zone{}
	} else if err != nil {
		t.Fatal(err)
	}
	z := zone{}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(raw), "\\\n", ""), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			z[name] = append(z[name], strings.TrimSpace(value))
		}
	}
	return z
}

type expected struct {
	Found, Valid int
	Results      []struct{ Domain, Selector, State string }
}

func TestChasquid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(cases, "*.msg"))
	if err != nil || len(files) == 0 {
		t.Skipf("no cases in %s", cases)
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".msg")
		t.Run(filepath.Base(base), func(t *testing.T) {
			var want expected
			if raw, err := os.ReadFile(base + ".result"); err == nil {
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := Verify(t.Context(), message.Parse(raw), readZone(t, base+".dns"), time.Unix(1.8e9, 0))
			if len(got) != want.Found {
				t.Fatalf("%d signatures, want %d", len(got), want.Found)
			}
			for i, w := range want.Results {
				g := got[i]
				if state(g.Err) != w.State || w.Domain != "" && (g.Domain != w.Domain || g.Selector != w.Selector) {
					t.Errorf("signature %d: %s %s %s %v, want %+v", i, g.Domain, g.Selector, state(g.Err), g.Err, w)
				}
			}
		})
	}
}

func state(err error) string {
	switch {
	case err == nil:
		return "SUCCESS"
	case Temporary(err):
		return "TEMPFAIL"
	case errors.Is(err, ErrSignature), errors.Is(err, ErrKey):
		return "PERMFAIL"
	}
	return "unknown"
}
