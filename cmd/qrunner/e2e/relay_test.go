package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestPostfixBothSides: Postfix hands posts to qrunner over LMTP, qrunner hands the
// copies to another Postfix, that to a sink which counts. 3 lists of 1,000 members get
// 20 posts each, and a list with VERP some more: every member gets every post once,
// with the header and the envelope that it should have.
func TestPostfixBothSides(t *testing.T) {
	const bulk, posts, members, verpMembers, verpPosts = 3, 20, 1000, 50, 10
	sink, sinkAddr := newSink(t, queuetest.SinkConfig{NoUTF8: true})
	relay := startPostfix(t, "relay", "relayhost = "+nexthop(sinkAddr), "smtp_destination_recipient_limit = 1000",
		"smtp_destination_concurrency_limit = 20", "smtp_initial_destination_concurrency = 20")
	h := newHost(t, "a", func(c *config.Config) {
		c.Smarthost.Address = relay.addr
		c.Smarthost.Recipients = 500
	})
	d := h.start()
	front := startPostfix(t, "front", "relay_domains = lists.example.com", "recipient_delimiter = +",
		"transport_maps = inline:{ lists.example.com=lmtp:inet:"+d.addr("lmtp")+" }", "lmtp_destination_concurrency_limit = 10")

	var all []listOfTest
	for i := range bulk {
		all = append(all, listOfTest{fmt.Sprintf("bulk%d@lists.example.com", i), members, posts, false})
	}
	all = append(all, listOfTest{"verp@lists.example.com", verpMembers, verpPosts, true})
	var wg sync.WaitGroup
	total := int64(0)
	for _, l := range all {
		h.list(l.id, l.members, "subject_prefix=["+l.name()+"]", "description=List "+l.name())
		if l.verp {
			h.must("list", "set", l.id, "verp_delivery_interval=1", "verp_form=readable")
		}
		total += int64(l.members * l.posts)
	}
	for _, l := range all {
		wg.Go(func() {
			c := dial(t, "tcp", front.addr, "EHLO")
			for _, id := range ids(l.name(), l.posts) {
				c.post(poster, message("Poster <"+poster+">", l.id, id), l.id)
			}
		})
	}
	wg.Wait()
	if err := sink.Wait(patient(t), total); err != nil {
		t.Errorf("%v\nfront: %v\nrelay: %v", err, front.queued(), relay.queued())
	}
	h.idle()
	until(t, "empty queues of Postfix", func() bool { return len(front.queued())+len(relay.queued()) == 0 })
	got := count(sink)
	for _, l := range all {
		got.once(t, ids(l.name(), l.posts), memberNames(l.members))
	}
	for _, m := range sink.Messages() {
		checkCopy(t, all, m)
	}
	d.stop()
	t.Logf("locks: %v", d.locks())
}

type listOfTest struct {
	id             string
	members, posts int
	verp           bool
}

func (l listOfTest) name() string { return l.id[:strings.IndexByte(l.id, '@')] }

// checkCopy looks at the header and the envelope of one transaction.
func checkCopy(t *testing.T, all []listOfTest, m queuetest.SinkMessage) {
	t.Helper()
	for _, l := range all {
		n := l.name()
		if !strings.HasPrefix(m.MessageID, "<"+n+".") {
			continue
		}
		head, _, _ := bytes.Cut(m.Raw, []byte("\r\n\r\n"))
		for _, want := range []string{
			"Subject: [" + n + "] About " + strings.Trim(m.MessageID, "<>"), "List-Id: \"List " + n + "\" <" + n + ".lists.example.com>",
			"List-Post: <mailto:" + l.id + ">", "List-Help: <mailto:" + n + "-request@lists.example.com?subject=help>",
			"List-Subscribe: <mailto:" + n + "-join@lists.example.com>", "List-Unsubscribe: <mailto:" + n + "-leave@lists.example.com>",
			"List-Owner: <mailto:" + n + "-owner@lists.example.com>", "Precedence: list", "X-BeenThere: " + l.id,
			"From: Poster <" + poster + ">", "To: " + l.id,
		} {
			if !strings.Contains("\r\n"+string(head)+"\r\n", "\r\n"+want+"\r\n") {
				t.Fatalf("no line %q in the header:\n%s", want, head)
			}
		}
		sender := n + "-bounces@lists.example.com"
		if l.verp {
			if len(m.Recipients) != 1 {
				t.Fatalf("%d recipients in one VERP transaction", len(m.Recipients))
			}
			sender = n + "-bounces+" + strings.Replace(m.Recipients[0], "@", "=", 1) + "@lists.example.com"
		}
		if m.Sender != sender {
			t.Fatalf("envelope sender %s, want %s", m.Sender, sender)
		}
		return
	}
	t.Errorf("mail of no list: %s", m.MessageID)
}

// TestUnknownListAtTheFront: with the manual's settings, Postfix refuses at RCPT what
// qrunner would refuse later, so that nobody has to be sent a bounce.
func TestUnknownListAtTheFront(t *testing.T) {
	h := newHost(t, "a")
	d := h.start()
	h.list("ant@lists.example.com", 1)
	front := startPostfix(t, "front", "relay_domains = lists.example.com", "recipient_delimiter = +",
		"transport_maps = inline:{ lists.example.com=lmtp:inet:"+d.addr("lmtp")+" }",
		"smtpd_recipient_restrictions = check_recipient_access inline:{ lists.example.com=reject_unverified_recipient }",
		"unverified_recipient_reject_code = 550")
	c := dial(t, "tcp", front.addr, "EHLO")
	c.ok("MAIL FROM:<"+poster+">", "250")
	for rcpt, want := range map[string]string{"ant": "250", "ant-bounces+x=y.example": "250", "nosuch": "550"} {
		until(t, want+" for "+rcpt, func() bool { return strings.HasPrefix(c.say("RCPT TO:<"+rcpt+"@lists.example.com>"), want) })
	}
	d.stop()
}
