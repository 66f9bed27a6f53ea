package stage

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
)

// says is a mail of somebody's to a service address.
func (w *world) says(who mailaddr.Address, sub lists.SubAddress, extra, subject, body string) *queue.Entry {
	e := w.mail(sub, extra, fmt.Sprintf("From: Zed <%s>\nTo: x\nSubject: %s\nMessage-ID: <q@example.org>\n\n%s", who, subject, body))
	e.Sender = who
	return e
}

// token is what a notice's answer goes to, as a mail program would put it.
func answerOf(t *testing.T, n *queue.Entry) (extra, subject, body string) {
	t.Helper()
	if n == nil {
		t.Fatal("no notice")
	}
	m := message.Parse(n.Raw)
	reply := m.Get("Reply-To")
	local, _, _ := strings.Cut(reply, "@")
	_, extra, _ = strings.Cut(local, "+")
	text := strings.ReplaceAll(string(m.Body()), "\r\n", "\n")
	return extra, "Re: " + m.Get("Subject"), "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n"
}

// confirms answers the notice that an outcome has for an address.
func (w *world) confirms(t *testing.T, o *queue.Outcome, who mailaddr.Address) *queue.Outcome {
	t.Helper()
	extra, subject, body := answerOf(t, notices(o)[who])
	return w.process(w.says(who, lists.SubConfirm, extra, subject, "Yes, please.\n"+body))
}

func (w *world) isMember(a mailaddr.Address) bool {
	_, ok := w.state.List().Roster.Find(lists.RoleMember, a)
	return ok
}

func TestJoinAndLeave(t *testing.T) {
	for _, via := range []lists.SubAddress{lists.SubJoin, lists.SubSubscribe, lists.SubRequest} {
		w := newWorld(t, liststest.Ant, "admin_notify_mchanges", "yes")
		o := w.process(w.says("zed@example.net", via, "", "subscribe", ""))
		n := notices(o)["zed@example.net"]
		if o.Event != "pending" || w.isMember("zed@example.net") || len(o.Children) != 1 {
			t.Fatalf("%s: %+v", via, o)
		}
		m := message.Parse(n.Raw)
		for name, want := range map[string]string{
			"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All", "Precedence": "bulk",
			"Reply-To": `^ant-confirm\+[a-z2-7]{10}\.[a-z2-7]{26}@lists\.example\.com$`, "Subject": `^Please confirm: join Ant \(confirm [a-z2-7]{10}\.[a-z2-7]{26}\)$`,
		} {
			if got := m.Get(name); !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s: %q", name, got)
			}
		}
		if n.Sender != "ant-bounces@lists.example.com" {
			t.Errorf("envelope sender %s", n.Sender)
		}
		o = w.confirms(t, o, "zed@example.net")
		if o.Event != "joined" || !w.isMember("zed@example.net") || get(notices(o)["zed@example.net"].Raw, "Subject") != "Welcome to Ant" || notices(o)[""] == nil || len(o.Children) != 2 {
			t.Fatalf("%s: %+v", via, o)
		}
		if got, _ := w.state.List().Roster.Find(lists.RoleMember, "zed@example.net"); got.Name != "Zed" {
			t.Errorf("name %q", got.Name)
		}
	}
	w := newWorld(t, liststest.Ant)
	for _, via := range []lists.SubAddress{lists.SubLeave, lists.SubUnsubscribe} {
		o := w.process(w.says("ANNE@example.org", via, "", "", "anything"))
		if o.Event != "pending" || !w.isMember("anne@example.org") {
			t.Fatalf("%+v", o)
		}
		for name := range notices(o) { // the address is as the roster has it
			o = w.confirms(t, o, mailaddr.Address(name))
		}
		if o.Event != "left" || w.isMember("anne@example.org") || len(o.Children) != 1 {
			t.Fatalf("%+v", o)
		}
		w = newWorld(t, liststest.Ant)
	}
}

// Where the site has pages, the mail names the one that confirms it; following it does not.
func TestConfirmingPage(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	conf := w.conf
	conf.Web = "https://lists.example.com/m"
	w.stages = Table(conf)
	o := w.process(w.says("zed@example.net", lists.SubJoin, "", "", ""))
	token, _, _ := answerOf(t, notices(o)["zed@example.net"])
	if raw := string(notices(o)["zed@example.net"].Raw); !strings.Contains(raw, "    https://lists.example.com/m/ant@lists.example.com/confirm/"+token+"\r\n") || strings.Count(raw, "/confirm/") != 1 {
		t.Errorf("%s", raw)
	}
}

// Whatever a token is worth, it is worth it once, to this list, and for three days.
func TestTokensOfRequests(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	o := w.process(w.says("zed@example.net", lists.SubJoin, "", "", ""))
	token, _, _ := answerOf(t, notices(o)["zed@example.net"])
	late := w.says("zed@example.net", lists.SubConfirm, token, "", "")
	late.Received = late.Received.AddDate(0, 0, 3)
	bee := newWorld(t, "bee@lists.example.com")
	wrong := strings.Map(func(r rune) rune {
		if r == '.' {
			return r
		}
		return 'a' + (r+1)%25
	}, token)
	for name, tc := range map[string]struct {
		w *world
		e *queue.Entry
	}{
		"old":          {w, late},
		"another list": {bee, bee.says("zed@example.net", lists.SubConfirm, token, "", "")},
		"wrong":        {w, w.says("zed@example.net", lists.SubConfirm, wrong, "", "")},
		"cut off":      {w, w.says("zed@example.net", lists.SubConfirm, token[:30], "", "")},
		"of Mailman":   {w, w.says("zed@example.net", lists.SubConfirm, "fedcba9876543210fedcba9876543210fedcba98", "", "")},
		"held post's":  {w, w.says("zed@example.net", lists.SubConfirm, token, "", "accept\n")}, // it confirms, it does not moderate
	} {
		o := tc.w.process(tc.e)
		if name == "held post's" {
			if o.Event != "joined" {
				t.Errorf("%s: %+v", name, o)
			}
			continue
		}
		if o.Event != "refused" || tc.w.isMember("zed@example.net") && name != "held post's" && tc.w == bee {
			t.Errorf("%s: %+v", name, o)
		}
	}
	w = newWorld(t, liststest.Ant)
	o = w.process(w.says("zed@example.net", lists.SubJoin, "", "", ""))
	token, _, _ = answerOf(t, notices(o)["zed@example.net"])
	if o := w.process(w.says("somebody@else.example", lists.SubConfirm, strings.ToUpper(token), "", "")); o.Event != "joined" {
		t.Errorf("whoever brings it: %+v", o)
	}
	if o := w.process(w.says("zed@example.net", lists.SubConfirm, token, "", "")); o.Event != "refused" || !strings.Contains(o.Reason, "done already") {
		t.Errorf("used: %+v", o)
	}
}

// What machines send confirms nothing (reproducer 024), and nobody answers it.
func TestMachinesConfirmNothing(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	o := w.process(w.says("zed@example.net", lists.SubJoin, "", "", ""))
	token, subject, body := answerOf(t, notices(o)["zed@example.net"])
	for _, field := range []string{
		"Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated; x=y", "Precedence: bulk", "Precedence: auto_reply",
		"X-Auto-Response-Suppress: All", "X-Autoreply: yes", "X-Autorespond: x", "List-Id: <x.y>",
		"Content-Type: multipart/report; boundary=x",
	} {
		e := w.says("zed@example.net", lists.SubConfirm, token, subject, "I am away\n"+body)
		e.Raw = []byte(field + "\r\n" + string(e.Raw))
		if o := w.process(e); o.Event != "ignored" || len(o.Children)+len(o.Changes) != 0 {
			t.Errorf("%s: %+v", field, o)
		}
	}
	for _, subject := range []string{"Automatic reply: Please confirm", "Out of office: " + subject} {
		if o := w.process(w.says("zed@example.net", lists.SubConfirm, token, subject, body)); o.Event != "ignored" || len(o.Children) != 0 {
			t.Errorf("%s: %+v", subject, o)
		}
	}
	for _, sender := range []mailaddr.Address{"", "mailer-daemon@example.net", "bee-bounces@lists.example.com"} {
		e := w.says("zed@example.net", lists.SubConfirm, token, subject, body)
		e.Sender = sender
		if o := w.process(e); o.Event != "ignored" || len(o.Children) != 0 {
			t.Errorf("%q: %+v", sender, o)
		}
	}
	if o := w.process(w.says("zed@example.net", lists.SubConfirm, token, subject, "unsubscribe\n"+body)); w.isMember("zed@example.net") {
		t.Errorf("who does not want to: %+v", o)
	}
	if o := w.process(w.says("zed@example.net", lists.SubConfirm, token, subject, body)); o.Event != "joined" {
		t.Errorf("a person: %+v", o)
	}
}

// A list that asks moderators as well.
func TestModeratedJoin(t *testing.T) {
	for verb, want := range map[string]string{"accept": "joined", "reject: too many already": "refused", "discard": "discarded"} {
		w := newWorld(t, liststest.Ant, "subscription_policy", "confirm_then_moderate")
		o := w.process(w.says("zed@example.net", lists.SubJoin, "", "", ""))
		if notices(o)[""] != nil {
			t.Errorf("moderators hear of it too early: %+v", o)
		}
		o = w.confirms(t, o, "zed@example.net")
		n := notices(o)[""]
		if o.Event != "moderate" || w.isMember("zed@example.net") || n == nil || notices(o)["zed@example.net"] == nil {
			t.Fatalf("%+v", o)
		}
		extra, subject, body := answerOf(t, n)
		if strings.Contains(subject, "\n") || !strings.Contains(body, "> ##-") {
			t.Errorf("%s\n%s", subject, body)
		}
		if o := w.process(w.says("mona@example.org", lists.SubConfirm, extra, subject, "I do not know\n"+body)); o.Event != "refused" || len(w.state.Pendings()) != 1 {
			t.Errorf("no decision: %+v", o)
		}
		if o := w.process(w.says("mona@example.org", lists.SubConfirm, extra, subject, "ban\n"+body)); o.Event != "refused" || len(w.state.Pendings()) != 1 {
			t.Errorf("another command: %+v", o)
		}
		if again := w.process(w.says("zed@example.net", lists.SubJoin, "", "", "")); again.Event != "refused" || len(w.state.Pendings()) != 1 {
			t.Errorf("asked again: %+v", again)
		}
		o = w.process(w.says("mona@example.org", lists.SubConfirm, extra, subject, verb+"\n"+body))
		if o.Event != want || w.isMember("zed@example.net") != (want == "joined") || len(w.state.Pendings()) != 0 {
			t.Errorf("%s: %+v", verb, o)
		}
		if n := notices(o)["zed@example.net"]; (n == nil) != (verb == "discard") || strings.HasPrefix(verb, "reject") && !strings.Contains(string(n.Raw), "too many already") {
			t.Errorf("%s: %+v", verb, n)
		}
		if o := w.process(w.says("nils@example.org", lists.SubConfirm, extra, subject, "accept\n"+body)); o.Event != "refused" {
			t.Errorf("decided twice: %+v", o)
		}
	}
}

// Many requests for one victim, from everywhere, on both addresses. (subscribe has the test
// with ten thousand.)
func TestBombing(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	mails := 0
	for i := range 500 {
		e := w.says("victim@example.net", []lists.SubAddress{lists.SubJoin, lists.SubRequest}[i%2], "", "subscribe", "")
		if i%3 == 0 { // in his name, from somewhere else
			e = w.says(mailaddr.Address(fmt.Sprintf("bot%d@bad.example", i%7)), lists.SubRequest, "", "subscribe address=victim@example.net", "")
		}
		o := w.process(e)
		if notices(o)["victim@example.net"] != nil {
			mails++
		} else if len(o.Children) != 0 && i > 100 {
			t.Fatalf("%+v", o)
		}
	}
	if mails != 3 || len(w.state.Pendings()) != 1 {
		t.Errorf("%d mails, %d pending", mails, len(w.state.Pendings()))
	}
	w = newWorld(t, liststest.Ant, "max_confirmations_per_day", "50")
	mails = 0
	for i := range 200 {
		mails += len(w.process(w.says(mailaddr.Address(fmt.Sprintf("v%d@example.net", i)), lists.SubJoin, "", "", "")).Children)
	}
	if mails != 50 {
		t.Errorf("%d mails of a list", mails)
	}
}

func TestSetByMail(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	before := w.state
	e := w.says("anne@example.org", lists.SubRequest, "", "", "set delivery off\nset digest plain\nset hide off\nset reminders on\nset language de\n")
	o := w.process(e)
	if o.Event != "pending" || len(w.state.Pendings()) != 1 || before.List().Roster != nil && !func() bool {
		m, _ := w.state.List().Roster.Find(lists.RoleMember, "anne@example.org")
		return m.Delivers()
	}() {
		t.Fatalf("forged From changed something: %+v", o)
	}
	if n := notices(o)["anne@example.org"]; n == nil || !strings.Contains(string(n.Raw), "set delivery off digest plain hide off language de") {
		t.Fatalf("%s", n.Raw)
	}
	ask := (*queue.Entry)(nil)
	for _, c := range o.Children {
		if message.Parse(c.Entry.Raw).Get("Reply-To") != "" {
			ask = c.Entry
		}
	}
	extra, subject, body := answerOf(t, ask)
	o = w.process(w.says("anne@example.org", lists.SubConfirm, extra, subject, body))
	m, _ := w.state.List().Roster.Find(lists.RoleMember, "anne@example.org")
	if o.Event != "set" || m.Status != lists.StatusByUser || m.Mode != lists.ModePlainDigests || m.Prefs["hide_address"] != "no" || m.Prefs["preferred_language"] != "de" {
		t.Errorf("%+v: %+v", o, m)
	}
	o = w.process(w.says("anne@example.org", lists.SubRequest, "", "set show", ""))
	if n := notices(o)["anne@example.org"]; n == nil || !strings.Contains(string(n.Raw), "digest       plain") || !strings.Contains(string(n.Raw), "off (by_user)") {
		t.Errorf("%+v", o)
	}
	e = w.says("anne@example.org", lists.SubRequest, "", "set show", "")
	e.Sender = "zed@example.net"
	if o := w.process(e); strings.Contains(string(notices(o)["zed@example.net"].Raw), "digest       plain") {
		t.Errorf("shown to somebody else: %+v", o)
	}
}

func TestChangeOfAddress(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	o := w.process(w.says("anne@example.org", lists.SubRequest, "", "change anne@new.example", ""))
	if o.Event != "pending" || notices(o)["anne@new.example"] != nil {
		t.Fatalf("%+v", o)
	}
	o = w.confirms(t, o, "anne@example.org")
	if o.Event != "pending" || !w.isMember("anne@example.org") {
		t.Fatalf("%+v", o)
	}
	o = w.confirms(t, o, "anne@new.example")
	if o.Event != "changed" || w.isMember("anne@example.org") || !w.isMember("anne@new.example") || len(w.state.Pendings()) != 0 {
		t.Fatalf("%+v", o)
	}
	for _, now := range []string{"bart@example.org", "ant@lists.example.com", "ant-owner@lists.example.com", "nobody", ""} {
		if o := w.process(w.says("anne@new.example", lists.SubRequest, "", "change "+now, "")); o.Event != "refused" {
			t.Errorf("%s: %+v", now, o)
		}
	}
}

// What waits for a moderator is in the daily summary; what expires, the periodic work closes.
func TestRequestsInTime(t *testing.T) {
	w := newWorld(t, liststest.Ant, "subscription_policy", "moderate")
	w.confirms(t, w.process(w.says("zed@example.net", lists.SubJoin, "", "", "")), "zed@example.net")
	w.process(w.says("yan@example.net", lists.SubJoin, "", "", ""))
	at := liststest.Day().Add(time.Hour)
	o, err := w.conf.Due(t.Context(), w.state, at)
	if err != nil || o == nil || len(o.Children) != 1 || !strings.Contains(string(o.Children[0].Entry.Raw), "join: zed@example.net") || strings.Contains(string(o.Children[0].Entry.Raw), "yan@") {
		t.Fatalf("%+v, %v", o, err)
	}
	w.commit(o)
	for days, want := range map[int]int{2: 2, 4: 1, 181: 0} {
		now := liststest.Day().AddDate(0, 0, days)
		st := w.state
		if o, err := w.conf.Due(t.Context(), st, now); err != nil {
			t.Fatal(err)
		} else if o != nil {
			if st, err = st.With(now, o.Changes...); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(st.Pendings()); got != want {
			t.Errorf("after %d days %d wait, want %d", days, got, want)
		}
	}
}
