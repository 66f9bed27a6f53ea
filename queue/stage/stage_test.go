package stage

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/queue"
)

const hello = "From: Anne <anne@example.org>\r\nTo: ant@lists.example.com\r\nSubject: hi\r\nMessage-ID: <1@example.org>\r\n\r\nhello\r\n"

func TestAccept(t *testing.T) {
	w := newWorld(t, liststest.Ant, "subject_prefix", "[Ant %d]")
	o := w.process(w.entry("anne@example.org", hello))
	f := sent(o)
	if f == nil || o.Event != "accepted" {
		t.Fatalf("%+v", o)
	}
	want := &queue.Fanout{
		List: liststest.Ant, PostID: 1, VERP: true, Bulk: true, Bounces: "ant-bounces@lists.example.com",
		Envelope: w.entry("anne@example.org", hello).Envelope, Raw: f.Raw, Recipients: f.Recipients,
	}
	if d := cmp.Diff(want, f); d != "" {
		t.Error(d)
	}
	if to(f) != "anne bart dora emil+tag" || get(f.Raw, "Subject") != "[Ant 1] hi" || get(f.Raw, "X-Mailman-Rule-Misses") == "" {
		t.Errorf("to %s:\n%s", to(f), f.Raw)
	}
	a := child(o, queue.Archive)
	if a == nil || a.Meta.PostID != 1 || a.Received != liststest.Day() || a.Trace != "trace1" {
		t.Fatalf("archive copy %+v", a)
	}
	a.ID = queue.NewID(liststest.Day(), 1, "test", 1)
	o = w.process(a)
	if len(o.Children) != 1 || o.Children[0].File == nil || o.Children[0].File.Path != "archive/2024-01/cur/"+string(a.ID)+":2,S" {
		t.Fatalf("%+v", o)
	}
	if data := o.Children[0].File.Data; bytes.Contains(data, []byte("\r")) || !bytes.HasSuffix(data, []byte("\n\nhello\n")) {
		t.Errorf("archived %q", data)
	}
	next := w.process(w.entry("anne@example.org", strings.Replace(hello, "<1@", "<2@", 1)))
	if f := sent(next); f == nil || f.PostID != 2 || get(f.Raw, "Subject") != "[Ant 2] hi" {
		t.Errorf("second post: %+v", next)
	}
}

func TestVERPSettings(t *testing.T) {
	for _, tc := range []struct {
		interval, personalize, form string
		want                        string // of three posts
	}{
		{"0", "none", "token", "---"}, {"1", "none", "token", "VVV"}, {"2", "none", "readable", "-V-"},
		{"3", "none", "readable", "--V"}, {"0", "individual", "token", "VVV"},
	} {
		w := newWorld(t, liststest.Ant, "verp_delivery_interval", tc.interval, "personalize", tc.personalize, "verp_form", tc.form)
		got := ""
		for i := range 3 {
			f := sent(w.process(w.entry("anne@example.org", strings.Replace(hello, "<1@", fmt.Sprintf("<%d@", i), 1))))
			if f.Readable != (tc.form == "readable") {
				t.Errorf("%+v: readable %v", tc, f.Readable)
			}
			if f.VERP {
				got += "V"
			} else {
				got += "-"
			}
		}
		if got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestEightBitAndUTF8(t *testing.T) {
	w := newWorld(t, liststest.Ant, "repeat_window", "0s")
	for _, tc := range []struct {
		head, body       string
		utf8             bool
		wantUTF8, want8b bool
	}{
		{"", "x", true, false, false},
		{"X: ü\r\n", "x", true, true, false},
		{"X: ü\r\n", "x", false, false, false},
		{"", "ü", true, false, true},
	} {
		e := w.entry("anne@example.org", tc.head+hello+tc.body)
		e.UTF8 = tc.utf8
		if f := sent(w.process(e)); f.UTF8 != tc.wantUTF8 || f.EightBit != tc.want8b {
			t.Errorf("%+v: UTF8 %v, 8bit %v", tc, f.UTF8, f.EightBit)
		}
	}
}

func TestHeldPost(t *testing.T) {
	raw := strings.ReplaceAll(hello, "anne@", "zed@")
	hold := func(t *testing.T) (*world, *queue.Entry) {
		w := newWorld(t, liststest.Ant)
		o := w.process(w.entry("zed@example.net", raw))
		if o.Event != "held" || sent(o) != nil || len(w.state.Held()) != 1 {
			t.Fatalf("%+v", o)
		}
		p := w.state.Held()[0]
		if p.From != "zed@example.org" || p.Subject != "hi" || p.Rule != "nonmember-moderation" || p.MessageID != "1@example.org" || p.Size != int64(len(raw)) {
			t.Errorf("%+v", p)
		}
		e, err := LoadHeld(context.Background(), w.fs, w.id, p)
		if err != nil || string(e.Raw) != raw || e.Sender != "zed@example.net" {
			t.Fatalf("%+v, %v", e, err)
		}
		return w, e
	}
	again := func(t *testing.T, w *world, want string) {
		t.Helper()
		if o := w.process(w.entry("zed@example.net", raw)); o.Event != want {
			t.Errorf("the same message again: %s (%s), want %s", o.Event, o.Reason, want)
		}
	}
	t.Run("repeat while held", func(t *testing.T) {
		w, _ := hold(t)
		again(t, w, "repeated")
	})
	t.Run("release", func(t *testing.T) {
		w, e := hold(t)
		o := ReleaseHeld(e, w.state.Held()[0], "mona")
		w.commit(o)
		next := child(o, queue.Pipeline)
		if len(w.state.Held()) != 0 || next == nil || next.ID != "" {
			t.Fatalf("%+v", o)
		}
		again(t, w, "repeated") // between release and pipeline
		next.ID = e.ID
		if f := sent(w.process(next)); f == nil || get(f.Raw, "X-Mailman-Rule-Hits") != "approved" || !bytes.HasSuffix(f.Raw, []byte("\r\n\r\nhello\r\n")) {
			t.Errorf("%+v", f)
		}
		again(t, w, "repeated")
	})
	t.Run("reject", func(t *testing.T) {
		w, e := hold(t)
		o, err := w.conf.RejectHeld(t.Context(), w.state.List(), e, w.state.Held()[0], Decision{By: "mona", Why: "too loud\r\nBcc: x@y.org"})
		if err != nil {
			t.Fatal(err)
		}
		w.commit(o)
		n := child(o, queue.Virgin)
		if n == nil || len(w.state.Held()) != 0 {
			t.Fatalf("%+v", o)
		}
		f := sent(w.process(n))
		if to(f) != "zed" || !f.Bounces.Null() || f.Bulk || f.VERP || f.Recipients[0].Kind != lists.KindNotice {
			t.Errorf("%+v", f)
		}
		m := message.Parse(f.Raw)
		if m.Get("Auto-Submitted") != "auto-replied" || m.Get("In-Reply-To") != "<1@example.org>" || m.Has("Bcc") || m.Get("Date") == "" || !strings.Contains(string(m.Body()), "too loud") {
			t.Errorf("%s", f.Raw)
		}
		again(t, w, "held")
	})
	t.Run("discard", func(t *testing.T) {
		w, e := hold(t)
		o := DiscardHeld(e, w.state.Held()[0], "mona")
		w.commit(o)
		if len(w.state.Held()) != 0 || len(o.Children) != 0 {
			t.Fatalf("%+v", o)
		}
		again(t, w, "held")
	})
	t.Run("file changed", func(t *testing.T) {
		w, _ := hold(t)
		p := w.state.Held()[0]
		p.Sum = strings.Repeat("0", 64)
		if _, err := LoadHeld(context.Background(), w.fs, w.id, p); err == nil {
			t.Error("a held post that is not what was held was loaded")
		}
		o := DiscardHeld(nil, w.state.Held()[0], "mona")
		w.commit(o)
		if len(w.state.Held()) != 0 || len(o.Told) != 1 || o.Told[0].MessageID == "" || o.Told[0].Trace == "" {
			t.Errorf("%+v", o)
		}
	})
}

// One message, held on two lists, is two held posts (reproducer 021).
func TestSameIDHeldOnTwoLists021(t *testing.T) {
	raw := strings.ReplaceAll(hello, "anne@", "zed@")
	ant, bee := newWorld(t, liststest.Ant), newWorld(t, "bee@lists.example.com", "require_explicit_destination", "no")
	ant.process(ant.entry("zed@example.net", raw))
	bee.n++ // intake gives each entry its own name
	bee.process(bee.entry("zed@example.net", raw))
	a, b := ant.state.Held()[0], bee.state.Held()[0]
	if a.ID == b.ID {
		t.Errorf("both are %s", a.ID)
	}
	ea, err := LoadHeld(context.Background(), ant.fs, ant.id, a)
	if err != nil {
		t.Fatal(err)
	}
	ant.commit(DiscardHeld(ea, a, "mona"))
	eb, err := LoadHeld(context.Background(), bee.fs, bee.id, b)
	if err != nil {
		t.Fatal(err)
	}
	o := ReleaseHeld(eb, b, "mona")
	bee.commit(o)
	next := child(o, queue.Pipeline)
	next.ID = eb.ID
	if f := sent(bee.process(next)); f == nil || !bytes.HasSuffix(f.Raw, []byte("\r\n\r\nhello\r\n")) {
		t.Errorf("bee's copy: %+v", f)
	}
	if o := ant.process(ant.entry("zed@example.net", raw)); o.Event != "held" || ant.state.Held()[0].ID == a.ID {
		t.Errorf("again to ant: %+v", o)
	}
}

func TestRepeats(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*queue.Entry)
		want string
	}{
		{"the same", func(*queue.Entry) {}, "repeated"},
		{"another trace field", func(e *queue.Entry) { e.Raw = append([]byte("Received: y\r\n"), e.Raw...) }, "repeated"},
		{"other body", func(e *queue.Entry) { e.Raw = append(e.Raw, '!') }, "accepted"},
		{"other id", func(e *queue.Entry) { e.Raw = bytes.Replace(e.Raw, []byte("<1@"), []byte("<2@"), 1) }, "accepted"},
		{"other sender", func(e *queue.Entry) { e.Sender = "bart@example.org" }, "accepted"},
		{"other author", func(e *queue.Entry) { e.Raw = bytes.Replace(e.Raw, []byte("<anne@"), []byte("<bart@"), 1) }, "accepted"},
		{"to the owners", func(e *queue.Entry) { e.Target.Sub = lists.SubOwner }, "accepted"},
		{"a second before the window ends", func(e *queue.Entry) { e.Received = e.Received.Add(24*time.Hour - time.Second) }, "repeated"},
		{"after the window", func(e *queue.Entry) { e.Received = e.Received.Add(24 * time.Hour) }, "accepted"},
	} {
		w := newWorld(t, liststest.Ant)
		w.process(w.entry("anne@example.org", hello))
		e := w.entry("anne@example.org", hello)
		tc.edit(e)
		if o := w.process(e); o.Event != tc.want {
			t.Errorf("%s: %s (%s), want %s", tc.name, o.Event, o.Reason, tc.want)
		}
	}
}

func TestRepeatWithoutID(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	raw := "Date: Mon, 1 Jan 2024\r\n" + strings.Replace(hello, "Message-ID: <1@example.org>\r\n", "", 1)
	for _, tc := range []struct{ raw, want string }{{raw, "accepted"}, {raw, "repeated"}, {strings.Replace(raw, "Mon,", "Tue,", 1), "accepted"}} {
		if o := w.process(w.entry("anne@example.org", tc.raw)); o.Event != tc.want {
			t.Errorf("%s, want %s", o.Event, tc.want)
		}
	}
}

func TestRepeatOfRejectedIsJudgedAnew(t *testing.T) {
	w := newWorld(t, liststest.Ant, "default_member_action", "reject")
	for range 2 {
		o := w.process(w.entry("anne@example.org", hello))
		if o.Event != "rejected" || child(o, queue.Virgin) == nil {
			t.Errorf("%+v", o)
		}
	}
}

func TestNeverAnswered(t *testing.T) {
	w := newWorld(t, liststest.Ant, "default_nonmember_action", "reject")
	raw := strings.ReplaceAll(hello, "anne@", "zed@")
	for _, tc := range []struct {
		name   string
		sender string
		head   string
		event  string
		notice bool
	}{
		{"person", "zed@example.net", "", "rejected", true},
		{"Auto-Submitted: no", "zed@example.net", "Auto-Submitted: no\r\n", "rejected", true},
		{"machine", "zed@example.net", "Auto-Submitted: auto-replied (vacation)\r\n", "rejected", false},
		{"bulk", "zed@example.net", "Precedence: Bulk\r\n", "rejected", false},
		{"another list", "zed@example.net", "List-Id: <x.y>\r\n", "rejected", false},
		{"null sender", "", "", "discarded", false},
		{"loop", "zed@example.net", "X-BeenThere: ant@lists.example.com\r\n", "discarded", false},
		{"hundred hops", "zed@example.net", strings.Repeat("Received: x\r\n", 100), "discarded", false},
	} {
		e := w.entry("", tc.head+raw)
		if tc.sender != "" {
			e.Sender = "zed@example.net"
		}
		o := w.process(e)
		if o.Event != tc.event || (len(o.Children) > 0) != tc.notice || sent(o) != nil || o.Reason == "" {
			t.Errorf("%s: %+v", tc.name, o)
		}
	}
}

func TestOwnerMail(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	e := w.entry("", "From: MAILER-DAEMON@x.org\r\nSubject: report\r\n\r\nx\r\n")
	e.Target.Sub = lists.SubOwner
	o := w.process(e)
	f := sent(o)
	if f == nil || to(f) != "mona nils" || f.Bulk || !f.VERP || !f.Bounces.Null() || f.PostID != 0 || w.state.List().PostID != 0 {
		t.Fatalf("%+v", o)
	}
	e = w.entry("zed@example.net", "From: zed@example.net\r\nSubject: a question\r\n\r\nx\r\n")
	e.Target.Sub = lists.SubOwner
	if f := sent(w.process(e)); f == nil || f.Bounces != "ant-bounces@lists.example.com" {
		t.Errorf("a person's mail: %+v", f)
	}
	e = w.entry("", string(f.Raw))
	e.Target.Sub = lists.SubOwner
	if o := w.process(e); o.Event != "discarded" {
		t.Errorf("owner mail that comes back: %+v", o)
	}
}

func TestSiteMail(t *testing.T) {
	w := newWorld(t, lists.Site)
	e := w.entry("x@y.org", "From: x@y.org\r\nSubject: to postmaster\r\n\r\nx\r\n")
	e.Target = lists.Target{List: lists.Site, Sub: lists.SubOwner}
	f := sent(w.process(e))
	if f == nil || to(f) != "mona nils" || !f.Bounces.Null() || get(f.Raw, "X-BeenThere") != "_site" || get(f.Raw, "Message-ID") != "<trace1@mx.example.com>" {
		t.Errorf("%+v\n%s", f, f.Raw)
	}
}

func TestWrongQueue(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	e := w.entry("anne@example.org", hello)
	e.Target.Sub = lists.SubRequest
	if o := w.process(e); o.Fate != queue.FateShunt || o.Reason == "" {
		t.Errorf("%+v", o)
	}
	e = w.entry("anne@example.org", hello)
	e.Queue = queue.Pipeline
	if o := w.process(e); o.Fate != queue.FateShunt {
		t.Errorf("%+v", o)
	}
}

func TestApprovedEntryPassesEveryRule(t *testing.T) {
	w := newWorld(t, liststest.Ant, "emergency", "yes")
	e := w.entry("zed@example.net", strings.ReplaceAll(hello, "anne@", "zed@"))
	e.Meta.Approved, e.Meta.ApprovedBy = true, "operator"
	if o := w.process(e); o.Event != "accepted" || o.Reason != "approved: let pass by operator" {
		t.Errorf("%+v", o)
	}
}
