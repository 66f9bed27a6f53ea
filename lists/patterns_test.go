package lists

import (
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	ps, err := ParsePatterns("\n  Anne@Example.org \n^.*@x\\.org$\n\n")
	if err != nil || len(ps) != 2 {
		t.Fatalf("%v, %v", ps, err)
	}
	if !ps[0].Match("anne@example.org") || ps[0].Match("anne@example.orgx") || !ps[1].Match("A@x.org") || ps[1].Match("a@x.orgs") {
		t.Error("wrong matches")
	}
	for _, bad := range []string{"anne", "^(", "@other", "a b@c.org"} {
		if err := CheckSetting("ban_list", bad); err == nil {
			t.Errorf("ban_list %q passes", bad)
		}
	}
}

func TestHeaderMatches(t *testing.T) {
	hs, err := ParseHeaderMatches("discard X-Spam: ^yes\nSubject:  a:b \n")
	if err != nil || len(hs) != 2 || hs[0].Action != ActionDiscard || hs[0].Header != "X-Spam" || hs[1].Action != "" || hs[1].Pattern.String() != "(?i)a:b" {
		t.Fatalf("%+v, %v", hs, err)
	}
	for _, bad := range []string{"X-Spam", "drop X: y", "a b c: d", ": x", "X: ("} {
		if err := CheckSetting("header_matches", bad); err == nil || !strings.Contains(err.Error(), "header_matches") {
			t.Errorf("header_matches %q: %v", bad, err)
		}
	}
}

// Every default of the table is a value that may be set (reproducer 012: a description
// of two lines may not).
func TestSettingTable(t *testing.T) {
	for _, s := range SettingTable {
		if err := CheckSetting(s.Name, s.Default); err != nil {
			t.Error(err)
		}
		if s.Doc == "" {
			t.Errorf("%s: no doc", s.Name)
		}
	}
	if err := CheckSetting("description", "one\r\nX-Injected: two"); err == nil {
		t.Error("a description of two lines passes")
	}
}
