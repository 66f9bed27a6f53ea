package stage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"qrunner/lists/commands"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
)

// notices are the children in the queue virgin, by addressee; the owners are "".
func notices(o *queue.Outcome) map[mailaddr.Address]*queue.Entry {
	out := map[mailaddr.Address]*queue.Entry{}
	for _, c := range o.Children {
		if c.Entry == nil || c.Entry.Queue != queue.Virgin {
			continue
		}
		var to mailaddr.Address
		if len(c.Entry.Meta.Recipients) > 0 {
			to = c.Entry.Meta.Recipients[0].Address
		}
		out[to] = c.Entry
	}
	return out
}

func told(o *queue.Outcome) string {
	var out []string
	for to := range notices(o) {
		out = append(out, string(to))
	}
	return strings.Join(out, " ")
}

func TestPosterIsTold(t *testing.T) {
	zed := strings.ReplaceAll(hello, "anne@example.org", "zed@example.net")
	const vouch = "Authentication-Results: mx.example.com; dmarc=pass header.from=example.net\r\n"
	for _, tc := range []struct {
		name     string
		settings []string
		sender   mailaddr.Address
		raw      string
		want     string
	}{
		{"stranger", nil, "zed@example.net", zed, ""},
		{"stranger, vouched for by nobody we trust", nil, "zed@example.net", vouch + zed, ""},
		{"vouched for", []string{"trusted_authserv_ids", "mx.example.com"}, "zed@example.net", vouch + zed, "zed@example.net"},
		{"vouched for, another envelope", []string{"trusted_authserv_ids", "mx.example.com"}, "victim@example.com", vouch + zed, "zed@example.net"},
		{"vouched for, two authors", []string{"trusted_authserv_ids", "mx.example.com"}, "zed@example.net", vouch + strings.Replace(zed, "\r\n", ", x@y.org\r\n", 1), ""},
		{"member", []string{"emergency", "yes"}, "anne@example.org", hello, "anne@example.org"},
		{"no answers", []string{"respond_to_post_requests", "no", "emergency", "yes"}, "anne@example.org", hello, ""},
		{"everybody", []string{"respond_to_post_requests", "yes"}, "zed@example.net", zed, "zed@example.net"},
		{"Mailman's style", []string{"style", "legacy-default", "admin_immed_notify", "no"}, "zed@example.net", zed, "zed@example.net"},
		{"a machine", []string{"respond_to_post_requests", "yes"}, "zed@example.net", "AUTO-SUBMITTED: Auto-Generated\r\n" + zed, ""},
		{"bulk, in any case", []string{"respond_to_post_requests", "yes"}, "zed@example.net", "precedence: BULK\r\n" + zed, ""},
		{"a list", []string{"respond_to_post_requests", "yes"}, "zed@example.net", "list-post: <mailto:x@y.org>\r\n" + zed, ""},
		{"a list by its sender", []string{"respond_to_post_requests", "yes"}, "x-bounces+zed=example.net@example.net", zed, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, liststest.Ant, tc.settings...)
			o := w.process(w.entry(tc.sender, tc.raw))
			if o.Event != "held" || told(o) != tc.want {
				t.Errorf("%s, told %q, want %q", o.Event, told(o), tc.want)
			}
		})
	}
}

// A notice is what RFC 3834 asks for, and can be told from other mail.
func TestNoticeHeader(t *testing.T) {
	w := newWorld(t, liststest.Ant, "emergency", "yes", "admin_immed_notify", "yes")
	o := w.process(w.entry("anne@example.org", "References: <0@example.org>\r\n"+strings.Replace(hello, "hi", "=?utf-8?q?caf=C3=A9?=", 1)))
	ns := notices(o)
	if len(ns) != 2 {
		t.Fatalf("told %q", told(o))
	}
	ids := map[string]bool{}
	for to, e := range ns {
		e.ID = queue.NewID(liststest.Day(), 1, "test", uint64(len(ids)))
		f := sent(w.process(e))
		m := message.Parse(f.Raw)
		ids[m.MessageID()] = true
		if m.Get("Precedence") != "bulk" || m.Get("X-Auto-Response-Suppress") != "All" || !strings.HasPrefix(m.Get("Auto-Submitted"), "auto-") ||
			m.Get("Date") == "" || m.Get("List-Id") == "" || m.Get("From") != "ant-owner@lists.example.com" {
			t.Errorf("header for %q:\n%s", to, f.Raw)
		}
		if to != "" && (m.Get("In-Reply-To") != "<1@example.org>" || m.Get("References") != "<0@example.org> <1@example.org>" || !f.Bounces.Null()) {
			t.Errorf("answer:\n%s", f.Raw)
		}
		if to == "" && (f.Bounces != "ant-bounces@lists.example.com" || len(f.Recipients) != 2 || m.Get("Reply-To") != string(commands.ConfirmAddress(w.id, commands.Token(w.state.Held()[0])))) {
			t.Errorf("request from %s to %v:\n%s", f.Bounces, f.Recipients, f.Raw)
		}
		if !strings.Contains(string(m.Body()), "café") {
			t.Errorf("subject is not shown:\n%s", m.Body())
		}
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("message ids %v", ids)
	}
}

// The password is not in what moderators get.
func TestRequestWithoutPassword(t *testing.T) {
	w := newWorld(t, liststest.Ant, "admin_immed_notify", "yes", "moderator_password", "s3cret", "default_member_action", "hold")
	// A field of another name first: the rule tries only one.
	o := w.process(w.entry("anne@example.org", "Approved: wrong\r\nX-Approve: s3cret\r\n"+hello))
	e := notices(o)[""]
	if o.Event != "held" || e == nil || strings.Contains(string(e.Raw), "s3cret") || !strings.Contains(string(e.Raw), "hello") {
		t.Fatalf("%s\n%s", o.Event, e.Raw)
	}
}

func TestLimitsPerAddressAndDay(t *testing.T) {
	w := newWorld(t, liststest.Ant, "emergency", "yes", "admin_immed_notify", "yes", "max_autoresponses_per_day", "3", "max_admin_notices_per_day", "5")
	count := func(from, to int, at time.Time) (poster, moderators int) {
		for i := from; i < to; i++ {
			e := w.entry("anne@example.org", strings.Replace(hello, "<1@", fmt.Sprintf("<%d@", i), 1))
			e.Received = at
			ns := notices(w.process(e))
			if ns["anne@example.org"] != nil {
				poster++
			}
			if ns[""] != nil {
				moderators++
			}
		}
		return poster, moderators
	}
	if p, m := count(0, 10, liststest.Day()); p != 3 || m != 5 {
		t.Errorf("first day: %d and %d", p, m)
	}
	if p, m := count(10, 11, liststest.Day().Add(day-time.Second)); p != 0 || m != 0 {
		t.Errorf("a second before the next: %d and %d", p, m)
	}
	if p, m := count(11, 20, liststest.Day().Add(day)); p != 3 || m != 5 {
		t.Errorf("next day: %d and %d", p, m)
	}
}

// A thousand forged spams: no mail to strangers, one a day to the moderators.
func TestForgedSpam(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	for i := range 1000 {
		from := mailaddr.Address(fmt.Sprintf("victim%d@example.net", i))
		raw := strings.NewReplacer("anne@example.org", string(from), "<1@", fmt.Sprintf("<%d@", i)).Replace(hello)
		if o := w.process(w.entry(from, raw)); o.Event != "held" || len(notices(o)) != 0 {
			t.Fatalf("spam %d: %s, told %s", i, o.Event, told(o))
		}
	}
	summaries := 0
	for h := range 48 {
		now := liststest.Day().Add(time.Duration(h) * time.Hour)
		o := w.due(w.conf, now)
		if o == nil {
			continue
		}
		w.commit(o)
		summaries++
		e := notices(o)[""]
		if e == nil || len(o.Children) != 1 || len(e.Raw) > 64<<10 || !strings.Contains(string(e.Raw), "Subject: ant@lists.example.com: 1000 requests") ||
			!strings.Contains(string(e.Raw), "950 older ones") {
			t.Fatalf("%+v\n%s", o, e.Raw)
		}
	}
	if summaries != 2 {
		t.Errorf("%d summaries in two days", summaries)
	}
}

func TestHeldPostsExpire(t *testing.T) {
	for _, tc := range []struct {
		days string
		at   time.Duration
		want int
	}{{"3", 3*day - time.Second, 1}, {"3", 3 * day, 0}, {"0", 10000 * day, 1}} {
		w := newWorld(t, liststest.Ant, "emergency", "yes", "max_days_to_hold", tc.days, "admin_notify_pending", "no")
		w.process(w.entry("anne@example.org", hello))
		if o := w.due(w.conf, liststest.Day().Add(tc.at)); o != nil {
			w.commit(o)
		}
		if got := len(w.state.Held()); got != tc.want {
			t.Errorf("%+v: %d held", tc, got)
		}
	}
}
