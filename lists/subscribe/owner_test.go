package subscribe_test

import (
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// owns makes an address an owner of the desk's list.
func owns(t *testing.T, d *subscribe.Desk, a mailaddr.Address) {
	t.Helper()
	st, err := d.State.With(liststest.Day(), store.AddMember{Member: lists.Member{Address: a, Role: lists.RoleOwner}})
	if err != nil {
		t.Fatal(err)
	}
	d.State = st
}

func TestOwnerActs(t *testing.T) {
	d := desk(t, "ban_list", "bad@example.net", "send_welcome_message", "no")
	owns(t, &d, "nora@example.org")
	for _, tc := range []struct{ act, refusal string }{
		{"add new@example.org", ""},
		{"add New Person <new2@example.org>", ""},
		{"add new@example.org", "member already"},
		{"add bad@example.net", "is banned"},
		{"add nonsense", "is not a mail address"},
		{"add ", "is not a mail address"},
		{"add a@example.org, b@example.org", "is not a mail address"},
		{"add " + string(d.State.ID().Address(lists.SubOwner)), "own address"},
		{"del new@example.org", ""},
		{"del new@example.org", "is not a member"},
		{"moderate new2@example.org hold", ""},
		{"moderate zed@example.net DISCARD", ""},
		{"moderate zed@example.net default", ""},
		{"moderate zed@example.net sometimes", "no action"},
		{"moderate zed@example.net", "an address and an action"},
		{"ban eve@example.net", ""},
		{"ban EVE@example.net", "already"},
		{"ban ^.*@spam\\.example$", ""},
		{"ban ^(", "missing closing"},
		{"ban nonsense", "neither"},
		{"unban eve@example.net", ""},
		{"unban eve@example.net", "not on the ban list"},
		{"set subject_prefix [Ant]", ""},
		{"set emergency maybe", "neither yes nor no"},
		{"set site_ban_list x@example.net", "whole site"},
		{"set moderator_password secret", "by mail"},
		{"set trusted_authserv_ids evil.example", "by mail"},
		{"set colour red", "no setting"},
		{"forget everything", "nothing that an owner can do"},
	} {
		res, err := d.Request(confirmed(subscribe.Owner("nora@example.org", []string{tc.act})))
		if err != nil {
			t.Fatal(err)
		}
		if ok := tc.refusal == ""; ok != (res.Event == "managed") || !ok && !strings.Contains(res.Said, tc.refusal) {
			t.Errorf("%s: %s: %q, want %q", tc.act, res.Event, res.Said, tc.refusal)
		}
		if d.State, err = d.State.With(d.At, res.Changes...); err != nil {
			t.Fatal(err)
		}
	}
	l := d.State.List()
	if m, ok := l.Roster.Find(lists.RoleMember, "new2@example.org"); !ok || m.Name != "New Person" || m.Action != lists.ActionHold {
		t.Errorf("%+v", m)
	}
	if got := l.Settings.Text("ban_list"); got != "bad@example.net\n^.*@spam\\.example$" {
		t.Errorf("ban list %q", got)
	}
}

func confirmed(a subscribe.Ask) subscribe.Ask {
	a.Confirmed = true
	return a
}

// TestOwnerToken: all acts go by one token, which is the owner's; nothing is done for who
// is none, or none any more.
func TestOwnerToken(t *testing.T) {
	d := desk(t)
	ask := subscribe.Owner("nora@example.org", []string{"add a@example.org", "set emergency yes"})
	if res, err := d.Request(ask); err != nil || res.Event != "refused" || len(res.Changes) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	owns(t, &d, "nora@example.org")
	res, err := d.Request(ask)
	res = did(t, &d, res, err)
	if res.Event != "pending" || len(res.Notices) != 1 || res.Notices[0].To != "nora@example.org" || !strings.Contains(res.Notices[0].Vars["request"], "add a@example.org\nset emergency yes") {
		t.Fatalf("%+v", res)
	}
	if d.State.List().Settings.Bool("emergency") {
		t.Error("done without a token")
	}
	p, ok := subscribe.Find(d.State, res.Notices[0].Token, d.At)
	if !ok {
		t.Fatal("no request")
	}
	gone := d
	if gone.State, err = d.State.With(d.At, store.DelMember{Role: lists.RoleOwner, Address: "nora@example.org"}); err != nil {
		t.Fatal(err)
	}
	if res, err := gone.Confirm(p); err != nil || res.Event != "refused" || len(res.Changes) != 1 {
		t.Errorf("an owner no more: %+v, %v", res, err)
	}
	res, err = d.Confirm(p)
	did(t, &d, res, err)
	if !d.State.List().Settings.Bool("emergency") {
		t.Error("not done")
	}
	if _, ok := d.State.List().Roster.Find(lists.RoleMember, "a@example.org"); !ok {
		t.Error("not added")
	}
}
