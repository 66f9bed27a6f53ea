package lists

import (
	"fmt"
	"slices"
)

// PrefTable is what a member may decide for himself, with Mailman's names. A
// member who has not decided follows the list's setting of the same name.
var PrefTable = []Setting{
	{"receive_own_postings", "yes", yesNo, "Copies of one's own posts."},
	{"receive_list_copy", "yes", yesNo, "A copy although one is in To or Cc of the post."},
	{"acknowledge_posts", "no", yesNo, "A note for each post of one's own."},
	{"hide_address", "yes", yesNo, "Not shown in the roster."},
	{"preferred_language", "", oneLine, "Language of notices."},
	{"topics", "", oneLine, "Names of topics, separated by commas; none: posts on everything."},
	{"receive_nonmatching_topics", "no", yesNo, "With topics of one's own: posts on no topic at all too."},
}

// CheckPref says whether a member may set the preference to value. An empty value
// takes the decision back.
func CheckPref(name, value string) error {
	i := slices.IndexFunc(PrefTable, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("no preference %q", name)
	}
	if value == "" {
		return nil
	}
	if err := PrefTable[i].Check(value); err != nil {
		return fmt.Errorf("preference %s: %w", name, err)
	}
	return nil
}

// PrefBool is a yes/no preference of a member: the member's own, else the list's,
// else the table's.
func (l *List) PrefBool(m *Member, name string) bool {
	if m != nil && m.Prefs[name] != "" {
		b, _ := parseBool(m.Prefs[name])
		return b
	}
	if _, ok := LookupSetting(name); ok && l.Settings != nil {
		return l.Settings.Bool(name)
	}
	i := slices.IndexFunc(PrefTable, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return false
	}
	b, _ := parseBool(PrefTable[i].Default)
	return b
}
