package stage

import (
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// tick does the list's periodic work; nil if nothing of it is for the stage bounces.
func (w *world) tick(at time.Time) *queue.Outcome {
	w.t.Helper()
	c := Config{SiteOwner: "site@example.com"}
	o := w.due(c, at)
	if o == nil {
		return nil
	}
	w.commit(o)
	e := child(o, queue.Bounces)
	if e == nil {
		return nil
	}
	e.ID, e.Received = queue.NewID(at, 1, "test", 1), at
	return w.process(e)
}

// disable bounces bart until his delivery is disabled.
func (w *world) disable() *queue.Outcome {
	w.t.Helper()
	var o *queue.Outcome
	for i := range 5 {
		o = w.process(w.bounce("bart=example.org", dsn("bart@example.org 5.1.1"), day1(i)))
	}
	if m := w.member("bart@example.org"); m.Status != lists.StatusByBounces {
		w.t.Fatalf("%+v: %s", m, o.Reason)
	}
	return o
}

// answer is an answer to one of our mails.
func (w *world) answer(to *queue.Entry, head string) *queue.Outcome {
	w.t.Helper()
	m := message.Parse(to.Raw)
	e := w.entry("bart@example.org", "From: bart@example.org\r\nSubject: Re: "+m.Get("Subject")+"\r\n"+head+"\r\nhere I am\r\n")
	e.Queue, e.Target.Sub = queue.Command, lists.SubConfirm
	_, extra, _ := strings.Cut(strings.Split(m.Get("Reply-To"), "@")[0], "+")
	e.Target.Extra = extra
	e.Received = day1(9)
	return w.process(e)
}

func TestDisabledWarnedRemoved(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	o := w.disable()
	n := notices(o)
	if len(n) != 2 || n["bart@example.org"] == nil || n[""] == nil || !n["bart@example.org"].Sender.Null() {
		t.Fatalf("%v", n)
	}
	if m := message.Parse(n["bart@example.org"].Raw); !strings.HasPrefix(m.Get("Reply-To"), "ant-confirm+") || !strings.Contains(string(m.Body()), "2 more") {
		t.Errorf("%s", n["bart@example.org"].Raw)
	}
	if f := sent(w.process(w.entry("anne@example.org", hello))); strings.Contains(to(f), "bart") {
		t.Error("a disabled member gets posts")
	}
	// What still comes back changes nothing.
	if o := w.process(w.bounce("bart=example.org", dsn("bart@example.org 5.1.1"), day1(5))); len(o.Changes)+len(o.Children) != 0 {
		t.Errorf("%+v", o)
	}
	for _, step := range []struct {
		day  int
		want string // who gets mail
	}{{10, ""}, {11, "bart"}, {12, ""}, {18, "bart"}, {24, ""}, {25, "bart owners"}} {
		var got []string
		if o := w.tick(day1(step.day)); o != nil {
			for _, who := range []mailaddr.Address{"bart@example.org", ""} {
				if notices(o)[who] != nil {
					got = append(got, or(who.Local(), "owners"))
				}
			}
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("day %d: mail to %v, want %s", step.day, got, step.want)
		}
	}
	if _, ok := w.state.List().Roster.Find(lists.RoleMember, "bart@example.org"); ok {
		t.Fatal("bart is still a member")
	}
	for b := range w.state.Bounces() {
		if last := b.Steps[len(b.Steps)-1]; last.What != score.Removed || b.Address != "bart@example.org" {
			t.Errorf("%+v", b)
		}
	}
	if o := w.process(w.bounce("bart=example.org", dsn("bart@example.org 5.1.1"), day1(26))); o.Event != "ignored" || len(o.Children) != 0 {
		t.Errorf("%+v", o)
	}
	w.tick(day1(120))
	if w.scores() != "" {
		t.Errorf("kept for ever: %s", w.scores())
	}
}

func TestMemberAnswers(t *testing.T) {
	for _, tc := range []struct{ name, head, event string }{
		{"a person", "", "enabled"},
		{"a machine that says so", "Auto-Submitted: auto-replied\r\n", "ignored"},
		{"a machine that does not", "X-Autoreply: yes\r\n", "ignored"},
	} {
		w := newWorld(t, liststest.Ant)
		first := notices(w.disable())["bart@example.org"]
		o := w.answer(first, tc.head)
		if o.Event != tc.event {
			t.Errorf("%s: %s (%s)", tc.name, o.Event, o.Reason)
			continue
		}
		m := w.member("bart@example.org")
		if on := tc.event == "enabled"; on != m.Delivers() || on != (w.scores() == "bart 0.0") {
			t.Errorf("%s: %+v, %s", tc.name, m, w.scores())
		}
		if tc.event == "enabled" && w.answer(first, "").Event != "refused" {
			t.Error("the token was good twice")
		}
	}
}

func TestProbe(t *testing.T) {
	w := newWorld(t, liststest.Ant, "verp_probes", "yes")
	var o *queue.Outcome
	for i := range 5 {
		o = w.process(w.bounce("bart=example.org", dsn("bart@example.org 5.1.1"), day1(i)))
	}
	p := notices(o)["bart@example.org"]
	if p == nil || !w.member("bart@example.org").Delivers() || len(notices(o)) != 1 {
		t.Fatalf("%+v", o)
	}
	_, extra, _ := strings.Cut(p.Sender.Local(), "+")
	if extra == "" || w.id.Bounces().Domain() != p.Sender.Domain() {
		t.Fatalf("the probe's sender is %q", p.Sender)
	}
	before := w.state
	for name, e := range map[string]*queue.Entry{
		"report":     w.bounce(strings.ToUpper(extra), dsn("hidden@behind.example 5.2.1"), day1(5)),
		"smarthost":  nil,
		"automatic":  w.bounce(extra, "From: bart@example.org\nAuto-Submitted: auto-replied\nSubject: away\n\nback soon\n", day1(5)),
		"wrong one":  w.bounce("2-aaaaaaaaaaaaaaaa", dsn("hidden@behind.example 5.2.1"), day1(5)),
		"for policy": w.bounce(extra, dsn("bart@example.org 5.7.1"), day1(5)),
	} {
		w.state = before
		if e == nil {
			e = w.told(lists.Recipient{Kind: lists.KindNotice, Address: "bart@example.org"}, "550 5.2.1 disabled", "rcpt", day1(5))
			e.Raw = p.Raw
		}
		o := w.process(e)
		if want := name != "report" && name != "smarthost"; w.member("bart@example.org").Delivers() != want {
			t.Errorf("%s: %s", name, o.Reason)
		}
	}
	w.state = before
	if o := w.answer(p, ""); o.Event != "enabled" || w.scores() != "bart 0.0" {
		t.Errorf("answered: %+v, %s", o, w.scores())
	}
}

// A person who enables delivery by hand begins anew, and so does a new address.
func TestByHand(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	w.disable()
	m := *w.member("bart@example.org")
	m.Status = lists.StatusEnabled
	w.commit(&queue.Outcome{Changes: set(m)})
	w.process(w.bounce("bart=example.org", dsn("bart@example.org 5.1.1"), day1(5)))
	if w.scores() != "bart 1.0" {
		t.Errorf("enabled: %s", w.scores())
	}
	m.Address = "bert@example.org"
	w.commit(&queue.Outcome{Changes: set(m)})
	w.process(w.bounce("bert=example.org", dsn("bert@example.org 5.2.2"), day1(6)))
	if w.scores() != "bert 0.5" {
		t.Errorf("new address: %s", w.scores())
	}
}

// Scores go by themselves: after a week and five posts, not on a quiet list.
func TestClearedByTime(t *testing.T) {
	w := newWorld(t, liststest.Ant, "repeat_window", "0s")
	w.process(w.bounce("", dsn("bart@example.org 5.1.1"), day1(0)))
	post := func(n int) {
		for range n {
			w.process(w.entry("anne@example.org", hello))
		}
	}
	post(4)
	if w.tick(day1(30)); w.scores() != "bart 1.0" {
		t.Errorf("four posts: %s", w.scores())
	}
	post(1)
	if w.tick(day1(31)); w.scores() != "" {
		t.Errorf("five posts: %s", w.scores())
	}
}

func set(m lists.Member) []store.Change { return []store.Change{store.SetMember{Member: m}} }
