package explore_test

import (
	"testing"

	"qrunner/locking/explore"
)

func FuzzParsePlan(f *testing.F) {
	for _, s := range []string{"", "1:2", "24:7 30:1", "x", "1:", ":1", "-1:3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := explore.ParsePlan(s)
		if err != nil {
			return
		}
		again, err := explore.ParsePlan(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q, then %q, %v", p, again, err)
		}
	})
}

func TestParsePlanRefuses(t *testing.T) {
	for _, s := range []string{"x", "1", "1:", ":1", "1:2 y"} {
		if p, err := explore.ParsePlan(s); err == nil {
			t.Errorf("%q was read as %v", s, p)
		}
	}
}
