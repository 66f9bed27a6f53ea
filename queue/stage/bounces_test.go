package stage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/queue"
)

// bounce is a mail to the bounces address, extra behind its "+", that came at a time.
func (w *world) bounce(extra, raw string, at time.Time) *queue.Entry {
	e := w.entry("", strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n"))
	e.Queue, e.Target.Sub, e.Target.Extra, e.Received = queue.Bounces, lists.SubBounces, extra, at
	return e
}

// dsn is a delivery report about some recipients ("address status").
func dsn(recipients ...string) string {
	out := "From: MAILER-DAEMON@mx.example.net\nTo: x\nSubject: failure\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n" +
		"--b\nContent-Type: text/plain\n\nsorry\n\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n"
	for _, r := range recipients {
		addr, status, _ := strings.Cut(r, " ")
		out += "\nFinal-Recipient: rfc822; " + addr + "\nAction: failed\nStatus: " + status + "\n"
	}
	return out + "\n--b--\n"
}

// told is an entry of the stage out: what our smarthost said of a recipient.
func (w *world) told(to lists.Recipient, reply, phase string, at time.Time) *queue.Entry {
	e := w.bounce("", "Subject: hi\n\n", at)
	e.Source = "internal"
	e.Meta.Bounce = &queue.Bounce{Recipient: to, Reply: reply, Phase: phase}
	return e
}

func (w *world) member(a mailaddr.Address) *lists.Member {
	w.t.Helper()
	m, ok := w.state.List().Roster.Find(lists.RoleMember, a)
	if !ok {
		w.t.Fatalf("%s is no member", a)
	}
	return m
}

// scores is everybody's score: "anne 1.0 bart 0.5".
func (w *world) scores() string {
	var out []string
	for b := range w.state.Bounces() {
		out = append(out, b.Address.Local()+" "+b.Score.String())
	}
	return strings.Join(out, " ")
}

func day1(n int) time.Time { return liststest.Day().AddDate(0, 0, n) }

func TestBounceReproducers(t *testing.T) {
	for _, tc := range []struct{ file, extra, event, scores string }{
		{"027-verp-vacation.eml", "bart=example.org", "ignored", ""},
		{"028-dsn-mixed-actions.eml", "", "bounced", "anne 1.0 dora 1.0 emil+tag 1.0"},
		{"029-heuristic-bounce-garbage.eml", "", "bounced", "bart 1.0"},
	} {
		w := newWorld(t, liststest.Ant)
		o := w.process(w.bounce(tc.extra, repro(t, tc.file), day1(0)))
		if o.Event != tc.event || w.scores() != tc.scores || len(o.Children) != 0 {
			t.Errorf("%s: %s (%s), scores %q, want %s, %q", tc.file, o.Event, o.Reason, w.scores(), tc.event, tc.scores)
		}
	}
}

// The envelope address of a member whose own is too long for Mailman's form: the bounce
// is his (reproducer 031).
func TestLongVERPAddress031(t *testing.T) {
	const list lists.ID = "longer-than-15-octets@lists.example.com"
	long := mailaddr.Address(strings.Repeat("a", 10) + "bbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff@a-rather-long-domain-name.example.org")
	w := newWorld(t, list)
	w.commit(&queue.Outcome{Changes: []store.Change{store.AddMember{Member: lists.Member{Address: long, Role: lists.RoleMember}}}})
	m := w.member(long)
	a := mailaddr.EncodeVERP(list.Bounces(), long, uint64(m.ID))
	_, extra, _ := strings.Cut(a.Local(), "+")
	if len(a.Local()) > 64 || extra == "" {
		t.Fatalf("envelope address %s", a)
	}
	w.process(w.bounce(extra, dsn("somebody@else.example 5.1.1"), day1(0)))
	if b, _ := w.state.Bounce(m.ID); b.Score != score.Point {
		t.Errorf("scores %q", w.scores())
	}
}

func TestWhoBounced(t *testing.T) {
	w := newWorld(t, liststest.Ant, "process_bounces", "yes")
	bart := w.member("bart@example.org")
	token := strings.SplitN(mailaddr.EncodeVERP("x@y.org", "ü@example.org", uint64(bart.ID)).Local(), "+", 2)[1]
	for _, tc := range []struct{ name, extra, raw, event, scores string }{
		{"no VERP", "", dsn("anne@example.org 5.1.1", "zed@example.org 5.1.1", "bart@example.org 5.1.1"), "bounced", "anne 1.0 bart 1.0"},
		{"nobody of the list", "", dsn("zed@example.org 5.1.1"), "ignored", ""},
		{"VERP decides", "bart=example.org", dsn("anne@example.org 5.1.1"), "bounced", "bart 1.0"},
		{"VERP of somebody who has left", "zed=example.org", dsn("anne@example.org 5.1.1"), "ignored", ""},
		{"token of an address that the member no longer has", token, dsn("bart@example.org 5.1.1"), "ignored", ""},
		{"soft", "", dsn("anne@example.org 5.2.2"), "bounced", "anne 0.5"},
		{"policy", "", dsn("anne@example.org 5.7.26"), "bounced", "anne 0.0"},
		{"letter", "anne=example.org", "From: anne@example.org\nSubject: hello\n\nhow are you?\n", "forwarded", ""},
	} {
		fresh := *w
		o := fresh.process(fresh.bounce(tc.extra, tc.raw, day1(0)))
		if o.Event != tc.event || fresh.scores() != tc.scores {
			t.Errorf("%s: %s (%s), scores %q, want %s, %q", tc.name, o.Event, o.Reason, fresh.scores(), tc.event, tc.scores)
		}
	}
}

func TestSmarthostReplies(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	anne := lists.Recipient{Kind: lists.KindMember, Member: w.member("anne@example.org").ID, Address: "anne@example.org"}
	moved := anne
	moved.Address = "old@example.org"
	for _, tc := range []struct {
		name         string
		to           lists.Recipient
		reply, phase string
		scores       string
	}{
		{"unknown", anne, "550 5.1.1 no such user", "rcpt", "anne 1.0"},
		{"full", anne, "552 5.2.2 mailbox full", "rcpt", "anne 0.5"},
		{"expired", anne, "451 4.3.0 try later", "expired", "anne 0.25"},
		{"expired without an answer", anne, "no answer in phase rcpt: reset", "expired", "anne 0.25"},
		{"policy", anne, "554 5.7.1 message refused: spam", "rcpt", "anne 0.0"},
		{"old address", moved, "550 5.1.1 no such user", "rcpt", ""},
		{"nonmember", lists.Recipient{Kind: lists.KindNonmember, Address: "anne@example.org"}, "550 5.1.1 no", "rcpt", ""},
		{"notice", lists.Recipient{Kind: lists.KindNotice, Address: "anne@example.org"}, "550 5.1.1 no", "rcpt", "anne 1.0"},
	} {
		fresh := *w
		if o := fresh.process(fresh.told(tc.to, tc.reply, tc.phase, day1(0))); fresh.scores() != tc.scores || len(o.Children) != 0 {
			t.Errorf("%s: %s (%s), scores %q, want %q", tc.name, o.Event, o.Reason, fresh.scores(), tc.scores)
		}
	}
}

func TestUnrecognizedBounces(t *testing.T) {
	for _, tc := range []struct{ setting, to string }{{"discard", ""}, {"administrators", "mona nils"}, {"site_owner", "site"}} {
		w := newWorld(t, liststest.Ant, "forward_unrecognized_bounces_to", tc.setting)
		o := w.process(w.bounce("", "From: MAILER-DAEMON@x.org\nSubject: failed\n\nsomething went wrong\n", day1(0)))
		n := child(o, queue.Virgin)
		if (n == nil) != (tc.to == "") {
			t.Fatalf("%s: %+v", tc.setting, o)
		}
		if n == nil {
			continue
		}
		f := sent(w.process(n))
		if to(f) != tc.to || !f.Bounces.Null() || !strings.Contains(string(f.Raw), "something went wrong") {
			t.Errorf("%s: to %s, from %q:\n%s", tc.setting, to(f), f.Bounces, f.Raw)
		}
	}
}

func TestOwnerBounces(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	for i, want := range []bool{true, false} {
		o := w.process(w.bounce("mona=example.org", dsn("mona@example.org 5.1.1"), day1(0)))
		n := child(o, queue.Virgin)
		if (n != nil) != want || w.scores() != "" {
			t.Errorf("bounce %d: %+v", i, o)
		}
		if n != nil {
			if f := sent(w.process(n)); to(f) != "site" || !f.Bounces.Null() {
				t.Errorf("to %s from %q", to(f), f.Bounces)
			}
		}
	}
}

func TestBouncesOfTheSiteAndOff(t *testing.T) {
	w := newWorld(t, liststest.Ant, "process_bounces", "no")
	if o := w.process(w.bounce("", dsn("anne@example.org 5.1.1"), day1(0))); o.Event != "ignored" || len(o.Changes) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestStormIsToldOnce(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	var cs []store.Change
	for i := range 10 {
		cs = append(cs, store.AddMember{Member: lists.Member{Address: mailaddr.Address(fmt.Sprintf("m%d@Big.example", i)), Role: lists.RoleMember}})
	}
	w.commit(&queue.Outcome{Changes: cs})
	notices := 0
	for i := range 10 {
		o := w.process(w.bounce("", dsn(fmt.Sprintf("m%d@big.example 5.1.1", i), "anne@example.org 5.1.1"), day1(0).Add(time.Duration(i)*time.Minute)))
		if child(o, queue.Virgin) != nil {
			notices++
		}
	}
	want := "anne 1.0"
	for i := range 10 {
		want += fmt.Sprintf(" m%d 0.0", i)
	}
	if w.scores() != want || notices != 1 {
		t.Errorf("scores %q, %d notices", w.scores(), notices)
	}
	for _, minutes := range []time.Duration{30, 69, 120} { // it lasts an hour behind its last bounce, or nearly
		if o := w.process(w.bounce("", dsn("m0@big.example 5.1.1"), day1(0).Add(minutes*time.Minute))); w.scores() != want {
			t.Errorf("the storm goes on, minute %d: %s", minutes, o.Reason)
		}
	}
	w.process(w.bounce("", dsn("m0@big.example 5.1.1"), day1(1)))
	if b, _ := w.state.Bounce(w.member("m0@big.example").ID); b.Score != score.Point {
		t.Errorf("after the storm: %s", w.scores())
	}
}
