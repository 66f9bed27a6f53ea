package lists

import (
	"strings"
	"testing"

	"qrunner/lists/mailaddr"
)

func FuzzParsePatterns(f *testing.F) {
	for _, s := range []string{"", "a@b.org\n^x.*\n@ant@lists.example.com", "^(", "@", "\"a b\"@c.d", "^", "a@b@c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := ParsePatterns(s)
		if err != nil {
			return
		}
		for _, p := range ps {
			p.Match("zed@example.net")
			if a, err := mailaddr.Parse(p.Text); err == nil && p.Text[0] != '^' && p.Text[0] != '@' && !p.Match(a) {
				t.Errorf("%q does not fit itself", p.Text)
			}
		}
	})
}

func FuzzParseHeaderMatches(f *testing.F) {
	for _, s := range []string{"", "# x", "hold Subject: x", "Subject: [", "a b c: d", ":", "discard X-Spam-Flag: ^yes\\b\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := ParseHeaderMatches(s)
		if err == nil && len(ms) > strings.Count(s, "\n")+1 {
			t.Errorf("%d matches in %q", len(ms), s)
		}
	})
}

// Every value of a style may be set, and the settings of the table are valid themselves.
func TestStylesAndDefaultsAreValid(t *testing.T) {
	for style, values := range Styles {
		for name, v := range values {
			if err := CheckSetting(name, v); err != nil {
				t.Errorf("style %s: %v", style, err)
			}
		}
	}
	for _, row := range SettingTable {
		if err := CheckSetting(row.Name, row.Default); err != nil || row.Doc == "" {
			t.Errorf("default of %s: %v", row.Name, err)
		}
	}
	for _, name := range SiteSettings {
		if CheckSetting(name, "") != nil || CheckListSetting(name, "") == nil {
			t.Errorf("%s is not a setting of the site only", name)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"ban_list", "^(", "missing closing )"},
		{"ban_list", "@bee@lists.example.com", "*_these_nonmembers only"},
		{"ban_list", "nobody", "neither an address nor a regular expression"},
		{"accept_these_nonmembers", "@bee", "not a list address"},
		{"header_matches", "nowhere Subject: x", "is no chain: one of [accept hold reject discard defer]"},
		{"header_matches", "hold Subject: (?=x)", "invalid or unsupported Perl syntax"},
		{"header_matches", "Subject", "is not of the form"},
		{"sender_headers", "from bcc", "none of from, from_, reply-to, sender"},
		{"sender_headers", "", "at least one"},
		{"max_num_recipients", "-1", "whole number"},
		{"respond_to_post_requests", "maybe", "none of yes, no, verified"},
	} {
		if err := CheckSetting(tc.name, tc.value); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s=%q: %v", tc.name, tc.value, err)
		}
	}
}
