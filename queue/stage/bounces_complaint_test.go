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

// complaint is a feedback report about a copy of a list's.
func complaint(who, listID string) string {
	return "From: fbl@mail.example\nTo: ant-bounces@lists.example.com\nSubject: complaint\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n" +
		"--b\nContent-Type: text/plain\n\nspam\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nVersion: 1\nUser-Agent: x/1\n" +
		"Original-Rcpt-To: <" + who + ">\n\n--b\nContent-Type: message/rfc822\n\nList-Id: Ant <" + listID + ">\nFrom: anne@example.org\nSubject: hi\n\nhello\n--b--\n"
}

func TestComplaints(t *testing.T) {
	const id = "ant.lists.example.com"
	for _, tc := range []struct {
		name, action, list, extra string
		delivers, told            bool
	}{
		{"disable", "disable", id, "", false, true},
		{"none", "none", id, "", true, false},
		{"another list's copy", "disable", "bee.lists.example.com", "", true, false},
		{"another list's copy to a copy's address", "disable", "x", "bart=example.org", false, true},
		{"unsubscribe: not at once", "unsubscribe", id, "", false, false},
	} {
		w := newWorld(t, liststest.Ant, "bounce_complaint_action", tc.action)
		o := w.process(w.bounce(tc.extra, complaint("bart@example.org", tc.list), day1(0)))
		n := notices(o)
		if w.member("bart@example.org").Delivers() != tc.delivers || (n["bart@example.org"] != nil) != tc.told || w.scores() != "bart 0.0" {
			t.Errorf("%s: %s (%s), told %q, scores %s", tc.name, o.Event, o.Reason, told(o), w.scores())
		}
		if tc.told && !strings.Contains(string(n["bart@example.org"].Raw), "marked as\r\nspam") {
			t.Errorf("%s: %s", tc.name, n["bart@example.org"].Raw)
		}
	}
}

// Who complained gets one notice, no reminders, and stays; by answering he has mail again.
func TestComplaintThenAnswer(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	first := notices(w.process(w.bounce("", complaint("bart@example.org", "ant.lists.example.com"), day1(0))))["bart@example.org"]
	for i := range 60 {
		if o := w.tick(day1(i)); o != nil && len(o.Children)+len(o.Changes) > 0 {
			t.Fatalf("day %d: %+v", i, o)
		}
	}
	if o := w.answer(first, ""); o.Event != "enabled" || !w.member("bart@example.org").Delivers() {
		t.Errorf("%+v", o)
	}
}

func TestComplaintUnsubscribes(t *testing.T) {
	w := newWorld(t, liststest.Ant, "bounce_complaint_action", "unsubscribe")
	w.process(w.bounce("", complaint("bart@example.org", "ant.lists.example.com"), day1(0)))
	if o := w.tick(day1(0).Add(50 * time.Minute)); o != nil {
		t.Fatalf("before the hour: %+v", o)
	}
	o := w.tick(day1(0).Add(61 * time.Minute))
	if _, still := w.state.List().Roster.Find(lists.RoleMember, "bart@example.org"); o == nil || still || len(notices(o)) != 2 {
		t.Fatalf("%+v", o)
	}
	if n := string(notices(o)[""].Raw); !strings.Contains(n, "The member was removed") || !strings.Contains(n, "spam") {
		t.Errorf("%s", n)
	}
}

// A provider that reports everybody has a faulty filter: nobody stays stopped.
func TestComplaintStorm(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	var cs []store.Change
	for i := range 10 {
		cs = append(cs, store.AddMember{Member: lists.Member{Address: mailaddr.Address(fmt.Sprintf("m%d@big.example", i)), Role: lists.RoleMember}})
	}
	w.commit(&queue.Outcome{Changes: cs})
	for i := range 10 {
		w.process(w.bounce("", complaint(fmt.Sprintf("m%d@big.example", i), "ant.lists.example.com"), day1(0).Add(time.Duration(i)*time.Minute)))
	}
	for i := range 10 {
		if m := w.member(mailaddr.Address(fmt.Sprintf("m%d@big.example", i))); !m.Delivers() {
			t.Errorf("%s: %s", m.Address, m.Status)
		}
	}
}

func TestOwnersHearOfEachPoint(t *testing.T) {
	w := newWorld(t, liststest.Ant, "bounce_notify_owner_on_bounce_increment", "yes")
	o := w.process(w.bounce("", dsn("bart@example.org 5.1.1"), day1(0)))
	if n := notices(o); len(n) != 1 || n[""] == nil || !strings.Contains(string(n[""].Raw), "Score:  1.0") {
		t.Errorf("%+v", o)
	}
	for name, raw := range map[string]string{"same day": dsn("bart@example.org 5.1.1"), "policy": dsn("bart@example.org 5.7.1")} {
		if o := w.process(w.bounce("", raw, day1(0).Add(time.Hour))); len(o.Children) != 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Members whose delivery was disabled for bounces before we knew of any (an import) are
// warned and removed like others.
func TestDisabledWithoutRecord(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	m := *w.member("bart@example.org")
	m.Status, m.StatusSince = lists.StatusByBounces, day1(-400)
	off := *w.member("anne@example.org")
	off.Status = lists.StatusByUser
	w.commit(&queue.Outcome{Changes: append(set(m), set(off)...)})
	got := ""
	for h := 0; h < 24*40; h++ {
		at := day1(0).Add(time.Duration(h) * time.Hour)
		if o := w.tick(at); o != nil {
			for range notices(o) {
				got += fmt.Sprintf(" %d", h/24)
			}
		}
	}
	if _, still := w.state.List().Roster.Find(lists.RoleMember, "bart@example.org"); still || got != " 0 7 14 21 21" {
		t.Errorf("notices on days%s, still a member: %v", got, still)
	}
	if b, _ := w.state.Bounce(m.ID); len(b.Steps) == 0 || b.Steps[0].What != score.Disabled {
		t.Errorf("%+v", b)
	}
	if w.member("anne@example.org").Status != lists.StatusByUser {
		t.Error("a member who wants no mail was touched")
	}
}

// A member who is refused for policy on every post for 30 days is shown to the owners,
// once, in the list's language, and stays.
func TestRefusedForPolicyIsShown(t *testing.T) {
	w := newWorld(t, liststest.Ant, "repeat_window", "0s", "preferred_language", "fr")
	shown := 0
	for i := range 40 {
		w.process(w.entry("anne@example.org", hello))
		o := w.process(w.bounce("", dsn("bart@example.org 5.7.26"), day1(i)))
		if n := notices(o)[""]; n != nil {
			shown++
			if i < 30 || !strings.Contains(string(n.Raw), "refus") || !strings.Contains(string(n.Raw), "5.7.26") {
				t.Errorf("day %d: %s", i, n.Raw)
			}
		}
	}
	if shown != 1 || !w.member("bart@example.org").Delivers() || w.scores() != "bart 0.0" {
		t.Errorf("shown %d times, scores %s", shown, w.scores())
	}
}
