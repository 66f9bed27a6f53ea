package spool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
)

func FuzzGap(f *testing.F) {
	f.Add("7 quoted-printable utf-8 - YQ==\n-- \n$user_name\n")
	f.Add("0 - - - -\n")
	f.Add("7 7bit us-ascii - -")
	f.Fuzz(func(t *testing.T, v string) {
		g, err := parseGap(v)
		if err != nil {
			return
		}
		again, err := parseGap(formatGap(g))
		if d := cmp.Diff(g, again); d != "" || err != nil {
			t.Errorf("%q: %v %s", v, err, d)
		}
	})
}

func TestGapRefuses(t *testing.T) {
	for _, v := range []string{"", "7", "x - - - -\n", "-1 - - - -\n", "7 - - -\n", "7 - - ? -\n", "7 %zz - - -\n"} {
		if g, err := parseGap(v); err == nil {
			t.Errorf("%q: %+v", v, g)
		}
	}
	if got := formatGap(lists.Gap{At: 3, Text: "a\r\nb\r\n"}); got != "3 - - - -\na\nb\n" {
		t.Errorf("%q", got)
	}
}
