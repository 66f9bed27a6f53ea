package subscribe_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
)

// free is a Locker for a test that is the only host.
type free struct{}

func (free) Lock(ctx context.Context, key locking.Key, _ locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	var token locking.Token
	var err error
	if f := locking.Apply(opts).Fencer; f != nil {
		token, err = f.Fence(ctx)
	}
	return lease{key, token}, err
}

func (l free) TryLock(ctx context.Context, k locking.Key, m locking.Mode, o ...locking.Option) (locking.Lease, error) {
	return l.Lock(ctx, k, m, o...)
}

type lease struct {
	key   locking.Key
	token locking.Token
}

func (l lease) Key() locking.Key             { return l.key }
func (l lease) Token() locking.Token         { return l.token }
func (l lease) Context() context.Context     { return context.Background() }
func (l lease) Verify(context.Context) error { return nil }
func (l lease) Unlock(context.Context) error { return nil }

// desk is at a list with the usual people.
func desk(t testing.TB, settings ...string) subscribe.Desk {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := site.Init(ctx, root); err != nil {
		t.Fatal(err)
	}
	s := store.Open(store.Config{FS: root, Locker: free{}, Host: "test", Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	var cs []store.Change
	for _, m := range liststest.Members() {
		cs = append(cs, store.AddMember{Member: m})
	}
	for i := 0; i+1 < len(settings); i += 2 {
		cs = append(cs, store.SetSetting{Name: settings[i], Value: settings[i+1]})
	}
	if err := s.Create(ctx, liststest.Ant, store.By{Actor: "test"}, cs...); err != nil {
		t.Fatal(err)
	}
	st, err := s.Read(ctx, liststest.Ant)
	if err != nil {
		t.Fatal(err)
	}
	return subscribe.Desk{State: st, At: liststest.Day(), Random: bytes.NewReader(bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), 1000)), By: "test"}
}

// did hands something in and moves the desk on.
func did(t *testing.T, d *subscribe.Desk, res subscribe.Result, err error) subscribe.Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if d.State, err = d.State.With(d.At, res.Changes...); err != nil {
		t.Fatal(err)
	}
	return res
}

// Who has to agree under which policy, and what proof comes with a request.
func TestPolicies(t *testing.T) {
	for _, tc := range []struct {
		policy                        string
		verified, confirmed, approved bool
		want                          string
	}{
		{"open", false, false, false, "pending"},
		{"open", true, false, false, "joined"},
		{"open", false, true, false, "joined"},
		{"confirm", true, false, false, "pending"},
		{"confirm", false, true, false, "joined"},
		{"moderate", false, false, false, "pending"},
		{"moderate", true, false, false, "moderate"},
		{"moderate", false, true, false, "moderate"},
		{"moderate", false, true, true, "joined"},
		{"moderate", false, false, true, "pending"},
		{"confirm_then_moderate", true, false, false, "pending"},
		{"confirm_then_moderate", false, true, false, "moderate"},
		{"confirm_then_moderate", false, true, true, "joined"},
	} {
		for _, kind := range []store.PendingKind{store.PendingJoin, store.PendingLeave} {
			d := desk(t, "subscription_policy", tc.policy, "unsubscription_policy", tc.policy)
			a := subscribe.Ask{Kind: kind, Address: "new@example.net", Verified: tc.verified, Confirmed: tc.confirmed, Approved: tc.approved}
			if kind == store.PendingLeave {
				a.Address = "anne@example.org"
			}
			res, err := d.Request(a)
			want := tc.want
			if want == "joined" && kind == store.PendingLeave {
				want = "left"
			}
			if err != nil || res.Event != want {
				t.Errorf("%+v: %s: %+v, %v", tc, kind, res, err)
			}
		}
	}
}

func TestWhoCannotJoin(t *testing.T) {
	d := desk(t, "ban_list", "spy@bad.example\n^.*@worse\\.example$")
	for a, want := range map[mailaddr.Address]string{
		"Anne@Example.org": "member", "spy@bad.example": "banned", "SPY@bad.example": "banned", "x@worse.example": "banned",
		"ant@lists.example.com": "own", "ant-bounces+x=y.org@lists.example.com": "own", "ANT-owner@lists.example.com": "own", "": "no address",
	} {
		d.Sender = a
		res, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: a})
		if err != nil || res.Event != "refused" || !strings.Contains(res.Said, want) || len(res.Changes)+len(res.Notices) != 0 {
			t.Errorf("%s: %+v, %v", a, res, err)
		}
	}
	d.Sender = "new@bücher.example"
	a, err := mailaddr.Parse("New@BÜCHER.example")
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: a})
	did(t, &d, res, err)
	b, err := mailaddr.Parse("new@xn--bcher-kva.example")
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: b})
	did(t, &d, again, err)
	if len(d.State.Pendings()) != 1 || again.Notices[0].Token != res.Notices[0].Token {
		t.Errorf("the same address, written otherwise, is another request: %+v", d.State.Pendings())
	}
}

// An invitation makes a member of whoever accepts it, under every policy; bans hold.
func TestInvite(t *testing.T) {
	d := desk(t, "subscription_policy", "confirm_then_moderate", "ban_list", "spy@bad.example")
	d.Trusted = true
	res, err := d.Invite("new@example.net", "New")
	did(t, &d, res, err)
	if res.Event != "invited" || len(res.Notices) != 1 {
		t.Fatalf("%+v", res)
	}
	p, ok := subscribe.Find(d.State, res.Notices[0].Token, d.At)
	if !ok {
		t.Fatal("the token is for nothing")
	}
	res, err = d.Confirm(p)
	did(t, &d, res, err)
	if m, ok := d.State.List().Roster.Find(lists.RoleMember, "new@example.net"); !ok || m.Name != "New" || len(d.State.Pendings()) != 0 {
		t.Errorf("%+v", res)
	}
	if res, err := d.Invite("spy@bad.example", ""); err != nil || res.Event != "refused" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Ten thousand requests for one victim in a day: three mails, then silence; and no more
// requests wait than one.
func TestBombing(t *testing.T) {
	d := desk(t)
	mails, silent := 0, 0
	for i := range 10000 {
		d.Sender = mailaddr.Address(fmt.Sprintf("bot%d@bad.example", i%1000))
		d.At = d.At.Add(8 * time.Second)
		res, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: "Victim@example.net"})
		did(t, &d, res, err)
		mails += len(res.Notices)
		if res.Event == "silenced" && res.Said == "" && len(res.Changes) == 0 {
			silent++
		}
	}
	if mails != 3 || silent != 10000-3 || len(d.State.Pendings()) != 1 {
		t.Errorf("%d mails, %d met with silence, %d wait", mails, silent, len(d.State.Pendings()))
	}
	d.At = d.At.Add(24 * time.Hour)
	if res, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: "victim@example.net"}); err != nil || res.Event != "pending" {
		t.Errorf("the next day: %+v, %v", res, err)
	}
}

// What has changed since a request was made counts.
func TestTooLate(t *testing.T) {
	d := desk(t)
	res, err := d.Request(subscribe.Ask{Kind: store.PendingJoin, Address: "new@example.net"})
	did(t, &d, res, err)
	p := d.State.Pendings()[0]
	d.State, err = d.State.With(d.At, store.SetSetting{Name: "ban_list", Value: "new@example.net"})
	if err != nil {
		t.Fatal(err)
	}
	res, err = d.Confirm(p)
	did(t, &d, res, err)
	if res.Event != "refused" || !strings.Contains(res.Said, "banned") || len(d.State.Pendings()) != 0 {
		t.Errorf("%+v", res)
	}
	if _, err := d.Confirm(p); err == nil {
		t.Error("confirmed twice")
	}
}

func TestDescribe(t *testing.T) {
	for want, p := range map[string]store.Pending{
		"join":                         {Kind: store.PendingJoin},
		"set delivery off digest mime": {Kind: store.PendingSet, Args: map[string]string{"digest": "mime", "delivery": "off"}},
	} {
		if got := subscribe.Describe(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzParseOption(f *testing.F) {
	for _, s := range []string{"delivery off", "digest plain", "language zh_CN", "set", "hide on more", "language \x00"} {
		f.Add(s)
	}
	d := desk(f)
	f.Fuzz(func(t *testing.T, line string) {
		name, value, err := subscribe.ParseOption(strings.Fields(line))
		if err != nil {
			return
		}
		res, err := d.Request(subscribe.Ask{Kind: store.PendingSet, Address: "anne@example.org", Args: map[string]string{name: value}, Confirmed: true})
		if err != nil || res.Event != "set" {
			t.Fatalf("%q: %+v, %v", line, res, err)
		}
		if _, err := d.State.With(d.At, res.Changes...); err != nil {
			t.Error(err)
		}
	})
}
