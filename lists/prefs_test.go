package lists

import (
	"testing"

	"qrunner/lists/mailaddr"
)

// TestPrefLevels: the member's own, else the address's, else the list's, else the site's,
// else what is built in.
func TestPrefLevels(t *testing.T) {
	site := Level{Name: "site", Values: map[string]string{"acknowledge_posts": "yes", "hide_address": "no"}}
	own := Level{Name: "list", Values: map[string]string{"acknowledge_posts": "no"}}
	book := map[string]map[string]string{"ann@example.com": {
		"acknowledge_posts": "yes", "receive_list_copy": "no", "delivery_mode": "mime_digests", "delivery_status": "by_user", "preferred_language": "de",
	}}
	l := &List{Settings: Resolve(site, own), Addresses: func(a mailaddr.Address) map[string]string { return book[a.Key()] }}
	ann := &Member{Address: "Ann@example.com", Role: RoleMember, Prefs: map[string]string{"receive_list_copy": "yes"}}
	bob := &Member{Address: "bob@example.com", Role: RoleMember}
	for _, tc := range []struct {
		m                   *Member
		name, value, source string
	}{
		{ann, "receive_list_copy", "yes", "member"},
		{ann, "acknowledge_posts", "yes", "address"},
		{bob, "acknowledge_posts", "no", "list"},
		{nil, "acknowledge_posts", "no", "list"},
		{bob, "hide_address", "no", "site"},
		{bob, "receive_own_postings", "yes", "built in"},
		{ann, "preferred_language", "de", "address"},
		{bob, "preferred_language", "en", "built in"},
		{ann, "delivery_mode", "mime_digests", "address"},
		{bob, "delivery_mode", "regular", "built in"},
		{bob, "nonsense", "", ""},
	} {
		if v, s := l.Pref(tc.m, tc.name); v != tc.value || s != tc.source {
			t.Errorf("%v %s: %q from %q, want %q from %q", tc.m, tc.name, v, s, tc.value, tc.source)
		}
	}
	if l.Delivers(ann) || l.Digested(ann) || !l.Delivers(bob) || l.Language(ann) != "de" || l.Language(bob) != "" {
		t.Error("the address's delivery status does not count")
	}
	ann.Status = StatusEnabled // his own word wins
	if l.Delivers(ann) || !l.Digested(ann) || l.Mode(ann) != ModeMIMEDigests {
		t.Error("the address's mode does not count")
	}
	if ann.Mode = ModeRegular; !l.Delivers(ann) {
		t.Error("the member's own mode does not count")
	}
}

func TestCheckAddressPref(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		ok          bool
	}{
		{"delivery_status", "by_user", true}, {"delivery_status", "", true}, {"delivery_status", "asleep", false},
		{"hide_address", "no", true}, {"hide_address", "maybe", false}, {"colour", "red", false},
	} {
		if err := CheckAddressPref(tc.name, tc.value); (err == nil) != tc.ok {
			t.Errorf("%s=%s: %v", tc.name, tc.value, err)
		}
	}
	if CheckPref("delivery_status", "by_user") == nil {
		t.Error("a member has a field for that")
	}
}
