package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	mail "qrunner/lists/message"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// report is a delivery report from a mail system behind the smarthost.
func report(to, recipient, status string) string {
	return "From: MAILER-DAEMON@mx.example.net\nTo: " + to + "\nSubject: Undelivered\nMessage-ID: <report." + recipient + ">\n" +
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nsorry\n--b\nContent-Type: message/delivery-status\n\n" +
		"Reporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; " + recipient + "\nAction: failed\nStatus: " + status + "\n\n--b--\n"
}

// bounced is what bounce why prints of one list.
type bounced struct {
	Score float64
	Steps []struct {
		What, Kind, Why string
		Points          float64
	}
}

func (h *host) why(addr string) []bounced {
	h.t.Helper()
	r := h.run("", "--json", "bounce", "why", addr)
	if r.code == 66 {
		return nil
	}
	var out []bounced
	h.query(&out, "bounce", "why", addr)
	return out
}

// TestBounces: what the smarthost says of a recipient and what a report says count
// alike; delivery is disabled at the threshold, and an answer to the notice enables it.
func TestBounces(t *testing.T) {
	t.Parallel()
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
		if s.Phase == queue.PhaseRcpt && s.Arg == "m0001@members.example" {
			return queuetest.Action{Reply: "550 5.1.1 <" + s.Arg + ">: no such user"}
		}
		return queuetest.Action{}
	}})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, 4, "bounce_score_threshold=1.0")
	d := h.start()
	d.lmtp().post(poster, message(poster, list, "first@posts.example"), list)
	until(t, "the smarthost's reply to count", func() bool { return h.why("m0001@members.example") != nil })
	d.lmtp().post("", report(list, "m0002@members.example", "5.1.1"), "ant-bounces+m0002=members.example@lists.example.com")
	d.lmtp().post("", report(list, "m0003@members.example", "5.7.26"), "ant-bounces@lists.example.com")
	until(t, "the reports to count", func() bool { return h.why("m0002@members.example") != nil && h.why("m0003@members.example") != nil })
	for addr, want := range map[string]float64{"m0001@members.example": 1, "m0002@members.example": 1, "m0003@members.example": 0} {
		if got := h.why(addr); len(got) != 1 || got[0].Score != want || !strings.Contains(got[0].Steps[0].Why, "5.") {
			t.Errorf("%s: %+v, want score %v", addr, got, want)
		}
	}
	var notice queuetest.SinkMessage
	until(t, "the notice", func() bool {
		for _, m := range sink.Messages() {
			if len(m.Recipients) == 1 && m.Recipients[0] == "m0002@members.example" && strings.Contains(string(m.Raw), "(confirm ") {
				notice = m
				return true
			}
		}
		return false
	})
	to := mail.Parse(notice.Raw).Get("Reply-To")
	d.lmtp().post("m0002@members.example", "From: m0002@members.example\nTo: "+to+"\nSubject: Re: stopped\nMessage-ID: <answer@members.example>\n\nI am here.\n", to)
	until(t, "delivery to be enabled", func() bool { return h.why("m0002@members.example")[0].Score == 0 })
	h.must("bounce", "reset", "m0001@members.example")
	if got := h.why("m0001@members.example"); got != nil {
		t.Errorf("after the reset: %+v", got)
	}
	if out := h.must("bounce", "ls", list); !strings.Contains(out, "m0002@members.example") || strings.Contains(out, "m0001@members.example") {
		t.Error(out)
	}
	d.lmtp().post(poster, message(poster, list, "second@posts.example"), list)
	h.idle()
	d.stop()
	if got := count(sink)["second@posts.example"]; got["m0002@members.example"] != 1 || got["m0003@members.example"] != 1 {
		t.Errorf("the second post: %v", got)
	}
	if left := append(h.files("queue/bounces"), h.files("queue/shunt")...); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestBounceScan: no configuration, no share; one object a file.
func TestBounceScan(t *testing.T) {
	t.Parallel()
	h := &host{t: t, file: filepath.Join(t.TempDir(), "none.yaml")}
	r := h.run(report("x@y.org", "a@b.org", "5.1.1"), "bounce", "scan", "--json", "-", "/nowhere")
	if r.code != 66 || !strings.Contains(r.out, `"address":"a@b.org","class":"hard"`) || strings.Count(r.out, "\n") != 2 {
		t.Error(r)
	}
}
