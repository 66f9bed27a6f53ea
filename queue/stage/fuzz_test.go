package stage

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/queue"
)

// FuzzIn puts any octets through the whole stage: it decides, without a panic, and
// what goes out can go out.
func FuzzIn(f *testing.F) {
	w := newWorld(f, liststest.Ant, "subject_prefix", "[Ant %d]", "footer", "foot ü\n", "require_explicit_destination", "no",
		"header_matches", "hold X-Spam: yes", "hold_digest", "yes", "moderator_password", "pw", "default_nonmember_action", "reject")
	for _, s := range []string{hello, "", "\r\n", "From: anne@example.org\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n",
		"From: anne@example.org\nSubject: =?utf-8?q?[Ant_3]?=\nContent-Transfer-Encoding: base64\n\naGVscA==\n",
		"From: anne@example.org\nContent-Type: text/plain; format=flowed; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n=\n",
		"From: anne@example.org\nApproved: pw\n\r\rx"} {
		f.Add([]byte(s), "anne@example.org")
	}
	f.Add([]byte(hello), "")
	f.Fuzz(func(t *testing.T, raw []byte, sender string) {
		e := w.entry("", string(raw))
		if strings.HasPrefix(sender, "anne") {
			e.Sender = "anne@example.org"
		}
		o, err := w.stages[queue.In].Process(t.Context(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
		if err != nil {
			t.Fatal(err)
		}
		if o.Event == "" || o.Reason == "" {
			t.Errorf("%+v", o)
		}
		if _, err := w.state.With(liststest.Day(), o.Changes...); err != nil {
			t.Error(err)
		}
		out := sent(o)
		if out == nil {
			return
		}
		if sender == "" {
			t.Error("a report was distributed")
		}
		if bytes.ContainsAny(bytes.ReplaceAll(out.Raw, []byte("\r\n"), nil), "\r\n") {
			t.Error("bare CR or LF")
		}
		m := message.Parse(out.Raw)
		if len(m.All("From")) != 1 || len(m.All("Subject")) != 1 || m.Has("Approved") || len(m.All("List-Id")) != 1 {
			t.Errorf("header:\n%q", out.Raw)
		}
	})
}

// Anything quadratic in these takes minutes.
func TestLinearTime(t *testing.T) {
	w := newWorld(t, liststest.Ant, "subject_prefix", "[Ant]", "footer", "foot\n", "max_message_size", "0", "hold_digest", "yes")
	const n = 1 << 18
	for name, raw := range map[string]string{
		"prefixes":   "Subject: " + strings.Repeat("[Ant] ", n/6) + "\r\n",
		"replies":    "Subject: " + strings.Repeat("Re: ", n/4) + "\r\n",
		"words":      "Subject: " + strings.Repeat("=?utf-8?q?[Ant]?= ", n/18) + "\r\n",
		"recipients": "Cc: " + strings.Repeat("a@b.org, ", n/9) + "\r\n",
		"lines":      "\r\n" + strings.Repeat("--b\r\n", n/5),
		"one line":   "\r\n" + strings.Repeat("x", n),
		"fields":     strings.Repeat("X-A: b\r\n", n/8),
		"parts":      "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\n", n/7),
	} {
		start := time.Now()
		w.process(w.entry("anne@example.org", "From: anne@example.org\r\nTo: ant@lists.example.com\r\n"+raw))
		t.Logf("%-12s %v", name, time.Since(start).Round(time.Millisecond))
	}
}
