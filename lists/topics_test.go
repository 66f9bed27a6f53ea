package lists

import (
	"slices"
	"strings"
	"testing"
)

func TestTopicsChosen(t *testing.T) {
	m := &Member{Prefs: map[string]string{"topics": " Food, nests ,,"}}
	if got := m.Topics(); !slices.Equal(got, []string{"Food", "nests"}) {
		t.Errorf("%q", got)
	}
	for _, v := range []string{"food", "food:", ": x", "food: [", "a, b: x"} {
		if _, err := ParseTopics(v); err == nil {
			t.Errorf("%q is taken", v)
		}
	}
	for name, values := range map[string][2]string{ // one that is taken, one that is not
		"filter_types": {"image text/HTML", "image/"}, "filter_extensions": {"exe bat", ".exe"}, "reply_to_address": {"", "a@"},
		"archive_address": {"a@x.org b@x.org", "a@x.org,b"}, "archive_base_url": {"https://x.org/$list_id", "https://x.org/a b"},
	} {
		if err := CheckSetting(name, values[0]); err != nil {
			t.Error(err)
		}
		if CheckSetting(name, values[1]) == nil {
			t.Errorf("%s: %q is taken", name, values[1])
		}
	}
}

func FuzzParseTopics(f *testing.F) {
	for _, s := range []string{"", "# x", "food: honey|sugar\nfood: ^leaf", "x: [", ":", "a,b: x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ts, err := ParseTopics(s)
		if err != nil {
			return
		}
		for _, topic := range ts {
			topic.Pattern.MatchString(s)
			m := &Member{Prefs: map[string]string{"topics": topic.Name}}
			if !(&List{}).Wants(m, []string{topic.Name}) || topic.Name != strings.TrimSpace(topic.Name) {
				t.Errorf("%q of %q cannot be chosen", topic.Name, s)
			}
		}
	})
}
