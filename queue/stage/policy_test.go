package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// A storm is held from the post on that is over the limit, until the hour is over.
func TestRateLimit(t *testing.T) {
	w := newWorld(t, liststest.Ant, "max_posts_per_sender", "3", "max_posts_per_list", "5")
	post := func(n int, who mailaddr.Address, at time.Duration) string {
		raw := strings.NewReplacer("anne@example.org", string(who), "<1@", fmt.Sprintf("<%d@", n)).Replace(hello)
		e := w.entry(who, raw)
		e.Received = e.Received.Add(at)
		return w.process(e).Event
	}
	for i, tc := range []struct {
		who  mailaddr.Address
		at   time.Duration
		want string
	}{
		{"anne@example.org", 0, "accepted"}, {"anne@example.org", time.Minute, "accepted"}, {"anne@example.org", 2 * time.Minute, "accepted"},
		{"anne@example.org", 3 * time.Minute, "held"}, {"bart@example.org", 4 * time.Minute, "accepted"}, {"bart@example.org", 5 * time.Minute, "accepted"},
		{"dora@example.org", 6 * time.Minute, "held"}, {"dora@example.org", time.Hour, "accepted"}, {"anne@example.org", time.Hour, "accepted"},
	} {
		if got := post(i+10, tc.who, tc.at); got != tc.want {
			t.Errorf("post %d: %s, want %s", i, got, tc.want)
		}
	}
}

func TestApprovedAt(t *testing.T) {
	w := newWorld(t, liststest.Ant, "moderator_password", "pw")
	forged := "X-Mailman-Approved-At: never\r\n"
	if f := sent(w.process(w.entry("anne@example.org", forged+hello))); bytes.Contains(f.Raw, []byte("Approved-At")) {
		t.Errorf("nobody approved it:\n%s", f.Raw)
	}
	zed := strings.NewReplacer("anne@example.org", "zed@example.net", "<1@", "<2@").Replace(hello)
	if f := sent(w.process(w.entry("zed@example.net", forged+"Approved: pw\r\n"+zed))); get(f.Raw, "X-Mailman-Approved-At") != "Mon, 01 Jan 2024 10:00:00 +0000" {
		t.Errorf("%s", f.Raw)
	}
	w.process(w.entry("zed@example.net", strings.Replace(zed, "<2@", "<3@", 1)))
	p := w.state.Held()[0]
	held, err := LoadHeld(t.Context(), w.fs, w.id, p)
	if err != nil {
		t.Fatal(err)
	}
	o := ReleaseHeld(held, p, "mona")
	w.commit(o)
	next := child(o, queue.Pipeline)
	next.ID = queue.NewID(liststest.Day().Add(time.Hour), 9, "test", 9)
	if f := sent(w.process(next)); get(f.Raw, "X-Mailman-Approved-At") != "Mon, 01 Jan 2024 11:00:00 +0000" {
		t.Errorf("%s", f.Raw)
	}
}

// noDNS is a world whose DNS is down.
type noDNS struct{}

func (noDNS) Policy(context.Context, string) (lists.DMARCPolicy, error) {
	return "", errors.New("SERVFAIL")
}

func TestTroubleIsNotThePosts(t *testing.T) {
	w := newWorld(t, liststest.Ant, "dmarc_mitigate_action", "reject")
	w.conf.DMARC = noDNS{}
	w.stages = Table(w.conf)
	_, err := w.stages[queue.In].Process(t.Context(), &queue.Work{Entry: w.entry("anne@example.org", hello), List: w.state.List(), State: w.state})
	if !errors.Is(err, queue.ErrTrouble) {
		t.Errorf("%v", err)
	}
}

func TestRejectionNotice(t *testing.T) {
	w := newWorld(t, liststest.Ant, "default_nonmember_action", "reject", "nonmember_rejection_notice", "Members only.\nSee the site.")
	o := w.process(w.entry("zed@example.net", strings.ReplaceAll(hello, "anne@example.org", "zed@example.net")))
	if n := child(o, queue.Virgin); n == nil || !bytes.Contains(n.Raw, []byte("\r\nMembers only.\r\nSee the site.\r\n")) {
		t.Errorf("%s", n.Raw)
	}
}

// The password is in nothing that leaves, however it came in.
func TestPasswordNeverLeaves(t *testing.T) {
	const pw = "s3cret-pw"
	html := "Content-Type: text/html\r\n"
	for name, raw := range map[string]string{
		"header":      "Approved: " + pw + "\r\n" + hello,
		"all headers": "Approve: x\r\nX-Approve: " + pw + "\r\nX-Approved: " + pw + "\r\napproved: " + pw + "\r\n" + hello,
		"line":        strings.Replace(hello, "hello", "Approved: "+pw+"\r\nhello", 1),
		"HTML":        html + strings.Replace(hello, "hello", "<p>Approved: <b>s3cret</b>-pw</p>hello", 1),
		"base64":      "Content-Transfer-Encoding: base64\r\n" + strings.Replace(hello, "hello", "QXBwcm92ZWQ6IHMzY3JldC1wdwpoZWxsbwo=", 1),
	} {
		for _, action := range []string{"defer", "hold", "reject"} {
			w := newWorld(t, liststest.Ant, "moderator_password", pw, "default_member_action", action, "admin_immed_notify", "yes")
			o := w.process(w.entry("anne@example.org", raw))
			for _, c := range o.Children {
				for _, out := range [][]byte{fanoutRaw(c), entryRaw(c)} {
					if bytes.Contains(out, []byte("s3cret")) || bytes.Contains(out, []byte("QXBwcm92ZWQ6")) {
						t.Errorf("%s, %s: %s\n%s", name, action, o.Event, out)
					}
				}
			}
		}
	}
}

func fanoutRaw(c queue.Child) []byte {
	if c.Fanout == nil {
		return nil
	}
	return c.Fanout.Raw
}

func entryRaw(c queue.Child) []byte {
	if c.Entry == nil {
		return nil
	}
	return c.Entry.Raw
}
