package lists

import (
	"cmp"
	"fmt"
	"slices"
)

// Preferences have four levels, as Mailman's have: what a member has set for one list, else
// what is set for his address on all lists, else the list's setting of the same name, else
// the domain's or the site's.

// PrefTable is what a member may decide for himself, with Mailman's names.
var PrefTable = []Setting{
	{"receive_own_postings", "yes", yesNo, "Copies of one's own posts."},
	{"receive_list_copy", "yes", yesNo, "A copy although one is in To or Cc of the post."},
	{"acknowledge_posts", "no", yesNo, "A note for each post of one's own."},
	{"hide_address", "yes", yesNo, "Not shown in the roster."},
	{"preferred_language", "", oneLine, "Language of notices."},
	{"topics", "", oneLine, "Names of topics, separated by commas; none: posts on everything."},
	{"receive_nonmatching_topics", "no", yesNo, "With topics of one's own: posts on no topic at all too."},
}

// Names of the two preferences that a member has as fields of his own.
const (
	prefMode   = "delivery_mode"
	prefStatus = "delivery_status"
)

// AddressPrefTable is what may be set for an address on all lists, beside PrefTable.
var AddressPrefTable = []Setting{
	{prefMode, "regular", oneOf("regular", "plaintext_digests", "mime_digests", "summary_digests"), "How the lists' mail comes."},
	{prefStatus, "enabled", oneOf("enabled", "by_user", "by_moderator"), "Whether any comes: by_user and by_moderator stop it."},
}

// CheckPref says whether a member may set the preference to value. An empty value
// takes the decision back.
func CheckPref(name, value string) error { return checkPref(PrefTable, name, value) }

// CheckAddressPref is CheckPref for an address on all lists.
func CheckAddressPref(name, value string) error {
	if err := checkPref(AddressPrefTable, name, value); err == nil || slices.ContainsFunc(AddressPrefTable, func(s Setting) bool { return s.Name == name }) {
		return err
	}
	return CheckPref(name, value)
}

func checkPref(table []Setting, name, value string) error {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("no preference %q", name)
	}
	if value == "" {
		return nil
	}
	if err := table[i].Check(value); err != nil {
		return fmt.Errorf("preference %s: %w", name, err)
	}
	return nil
}

// own is what the member has set, or his address; with the level.
func (l *List) own(m *Member, name string) (value, source string) {
	if m == nil {
		return "", ""
	}
	switch value = m.Prefs[name]; name {
	case prefMode:
		value = string(m.Mode)
	case prefStatus:
		value = string(m.Status)
	}
	if value != "" {
		return value, "member"
	}
	if l.Addresses != nil {
		if value = l.Addresses(m.Address)[name]; value != "" {
			return value, "address"
		}
	}
	return "", ""
}

// Pref is a preference as it counts for a member (nil: for nobody in particular), and the
// level that it comes from.
func (l *List) Pref(m *Member, name string) (value, source string) {
	if value, source = l.own(m, name); value != "" {
		return value, source
	}
	if _, ok := LookupSetting(name); ok && l.Settings != nil {
		return l.Settings.Text(name), l.Settings.Source(name)
	}
	for _, row := range slices.Concat(PrefTable, AddressPrefTable) {
		if row.Name == name {
			return row.Default, "built in"
		}
	}
	return "", ""
}

// PrefBool is a yes/no preference.
func (l *List) PrefBool(m *Member, name string) bool {
	v, _ := l.Pref(m, name)
	b, _ := parseBool(v)
	return b
}

// Language is what the member has set as the language of notices, or his address; "": they
// have not, and the list's counts.
func (l *List) Language(m *Member) string {
	v, _ := l.own(m, "preferred_language")
	return v
}

// Mode is how the member gets the list's mail, if any.
func (l *List) Mode(m *Member) DeliveryMode {
	v, _ := l.own(m, prefMode)
	return DeliveryMode(cmp.Or(v, string(ModeRegular)))
}

// Enabled reports whether the member gets mail of the list at all.
func (l *List) Enabled(m *Member) bool {
	v, _ := l.own(m, prefStatus)
	return v == "" || v == string(StatusEnabled)
}

// Delivers reports whether the member gets each post by itself.
func (l *List) Delivers(m *Member) bool {
	return m.Role == RoleMember && l.Enabled(m) && !l.Mode(m).Digests()
}

// Digested reports whether the member gets digests.
func (l *List) Digested(m *Member) bool {
	return m.Role == RoleMember && l.Enabled(m) && l.Mode(m).Digests()
}
