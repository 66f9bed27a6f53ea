package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestXVERP: Postfix makes the VERP senders itself. It gets one message for all members,
// and each copy that it hands on has the sender that we would have made.
func TestXVERP(t *testing.T) {
	const id, members = "ant@lists.example.com", 30
	sink, sinkAddr := newSink(t, queuetest.SinkConfig{NoUTF8: true})
	relay := startPostfix(t, "relay", "relayhost = "+nexthop(sinkAddr), "smtpd_authorized_verp_clients = 127.0.0.0/8")
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address, c.Smarthost.XVERP = relay.addr, true })
	h.list(id, members, "verp_delivery_interval=1", "verp_form=readable")
	d := h.start()
	d.lmtp().post(poster, message("Poster <"+poster+">", id, "ant.0@posts.example"), id)
	if err := sink.Wait(patient(t), members); err != nil {
		t.Fatalf("%v\nrelay: %v", err, relay.queued())
	}
	h.idle()
	seen := map[string]bool{}
	for _, m := range sink.Messages() {
		if len(m.Recipients) != 1 || m.Sender != "ant-bounces+"+strings.Replace(m.Recipients[0], "@", "=", 1)+"@lists.example.com" {
			t.Errorf("%s to %v", m.Sender, m.Recipients)
		}
		seen[strings.Join(m.Recipients, " ")] = true
	}
	log, err := os.ReadFile(filepath.Join(relay.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "nrcpt=30 "); len(seen) != members || n != 1 {
		t.Errorf("%d members; %d messages to all of them at the relay\n%s", len(seen), n, log)
	}
	d.stop()
}
