package stage

import (
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
)

// responses are the automatic answers among what came of an entry.
func responses(o *queue.Outcome) (out []*message.Message) {
	for _, c := range o.Children {
		if c.Entry != nil && c.Entry.Queue == queue.Virgin {
			if m := message.Parse(c.Entry.Raw); m.Get("X-Ack") == "no" {
				out = append(out, m)
			}
		}
	}
	return out
}

func TestAutorespond(t *testing.T) {
	w := newWorld(t, liststest.Ant, "autorespond_postings", "respond_and_continue", "autoresponse_postings_text", "Thanks for writing to $posting_address.",
		"autorespond_owner", "respond_and_discard", "autorespond_requests", "respond_and_discard", "autoresponse_grace_period", "10d",
		"default_nonmember_action", "discard")
	send := func(sub lists.SubAddress, who mailaddr.Address, head string, after time.Duration) (*queue.Outcome, []*message.Message) {
		t.Helper()
		e := w.entry(who, head+"From: "+string(who)+"\r\nTo: "+string(w.id.Posting())+"\r\nSubject: Re: hello\r\nMessage-ID: <"+mailaddr.Address(strings.ToLower(t.Name())).Local()+time.Duration(after).String()+head[:min(len(head), 3)]+string(sub)+"@example.org>\r\n\r\nHello.\r\n")
		e.Target.Sub = sub
		if sub == lists.SubRequest {
			e.Queue = queue.Command
		}
		e.Received = e.Received.Add(after)
		o := w.process(e)
		return o, responses(o)
	}
	const day = 24 * time.Hour
	o, got := send(lists.SubPost, "anne@example.org", "", 0)
	if o.Event != "accepted" || len(got) != 1 {
		t.Fatalf("%+v, %d answers", o, len(got))
	}
	if m := got[0]; m.Get("To") != "anne@example.org" || m.Get("Auto-Submitted") != "auto-replied" || m.Get("Subject") != "Re: hello" ||
		m.Get("In-Reply-To") == "" || m.Get("References") != m.Get("In-Reply-To") || string(m.Body()) != "Thanks for writing to "+string(w.id.Posting())+"." {
		t.Errorf("%s", m.Bytes())
	}
	for _, tc := range []struct {
		name  string
		sub   lists.SubAddress
		who   mailaddr.Address
		head  string
		after time.Duration
		event string
		n     int
	}{
		{"once in the grace period", lists.SubPost, "anne@example.org", "", day, "accepted", 0},
		{"to each sender", lists.SubPost, "bart@example.org", "", day, "accepted", 1},
		{"X-Ack: yes", lists.SubPost, "anne@example.org", "X-Ack: yes\r\n", 2 * day, "accepted", 1},
		{"after the grace period", lists.SubPost, "anne@example.org", "", 13 * day, "accepted", 1},
		{"X-Ack: no", lists.SubPost, "anne@example.org", "X-Ack: no\r\n", 30 * day, "accepted", 0},
		{"automatic mail", lists.SubPost, "anne@example.org", "Auto-Submitted: auto-replied\r\n", 31 * day, "", 0},
		{"a list's mail", lists.SubPost, "anne@example.org", "List-Id: <x.example>\r\n", 32 * day, "accepted", 0},
		{"spam", lists.SubPost, "zed@example.net", "", 33 * day, "discarded", 0},
		{"mail to the owners", lists.SubOwner, "zed@example.net", "", 34 * day, "discarded", 1},
		{"again", lists.SubOwner, "zed@example.net", "", 35 * day, "discarded", 0},
		{"nobody", lists.SubOwner, "", "", 36 * day, "", 0},
		{"requests", lists.SubRequest, "zed@example.net", "", 37 * day, "discarded", 1},
	} {
		o, got := send(tc.sub, tc.who, tc.head, tc.after)
		if tc.event != "" && o.Event != tc.event || len(got) != tc.n {
			t.Errorf("%s: %s (%s), %d answers; want %s, %d", tc.name, o.Event, o.Reason, len(got), tc.event, tc.n)
		}
	}
}
