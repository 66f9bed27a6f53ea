package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestPostfixAlias: a post comes through an alias of the old form, "|qrunner deliver
// post LIST", run by Postfix's local(8), which adds Delivered-To. A copy that is sent
// back to the list is dropped as a loop.
func TestPostfixAlias(t *testing.T) {
	needRoot(t)
	const list, members = "ant@lists.example.com", 5
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := ownedShare(t, "nobody", func(c *config.Config) { c.Smarthost.Address = addr })
	front := startPostfix(t, "front", "mydestination = lists.example.com", "alias_maps = hash:{dir}/aliases",
		"local_recipient_maps =", "recipient_delimiter = +", "export_environment = PATH QRUNNER_CONFIG",
		"import_environment = PATH MAIL_CONFIG QRUNNER_CONFIG="+h.file, "relayhost = "+nexthop(addr))
	h.list(list, members)
	d := h.start()
	front.write("aliases", `ant: "|`+os.Getenv(binaryVar)+` deliver post `+list+`"`+"\n"+
		`nosuch: "|`+os.Getenv(binaryVar)+` deliver post nosuch@lists.example.com"`+"\n")
	// local(8) runs the command as the owner of the table, or as nobody.
	if out, err := exec.Command("postalias", "-c", front.dir, "hash:"+filepath.Join(front.dir, "aliases")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	id := ids("alias", 1)
	c := dial(t, "tcp", front.addr, "EHLO")
	c.post(poster, message(poster, list, id[0]), list)
	if err := sink.Wait(patient(t), members); err != nil {
		t.Fatal(err)
	}
	h.idle()
	count(sink).once(t, id, memberNames(members))

	// A forwarder posts a copy again. Its traces of delivery are off, so local(8), which goes
	// by them, sees no loop; qrunner does.
	back := string(sink.Messages()[0].Raw)
	if strings.Contains(back, "Delivered-To") {
		t.Errorf("a copy says how the post was delivered here:\n%s", back)
	}
	c.post("forwarder@elsewhere.example", back, list)
	until(t, "the loop in the trace", func() bool {
		for _, e := range h.trace(id[0]) {
			if e.Event == "discarded" && strings.Contains(e.Detail, "loop") {
				return true
			}
		}
		return false
	})
	h.idle()
	count(sink).once(t, id, memberNames(members))

	// The alias of a list that is not there bounces, with our word for it.
	c.post("someone@elsewhere.example", message(poster, "nosuch@lists.example.com", "nosuch@posts.example"), "nosuch@lists.example.com")
	until(t, "the bounce", func() bool {
		for _, m := range sink.Messages() {
			if m.Sender == "" && m.Recipients[0] == "someone@elsewhere.example" {
				return strings.Contains(string(m.Raw), "Status: 5.1.1")
			}
		}
		return false
	})
	d.stop()
}
