package e2e

import (
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestDigests: the daemon sends a digest by itself when it is full, to each reader in
// the form that he wants; a command sends the next before that.
func TestDigests(t *testing.T) {
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, 3, "digest_size_threshold=2", "digest_send_periodic=no")
	h.must("member", "set", list, "m0001@members.example", "--mode", "plaintext_digests")
	h.must("member", "set", list, "m0002@members.example", "--mode", "mime_digests")
	d := h.start()
	posts := ids("digest", 5)
	mta := d.lmtp()
	copies := int64(0)
	for _, id := range posts {
		mta.post(poster, message(poster, list, id), list)
		copies++
		if err := sink.Wait(patient(t), copies); err != nil {
			t.Fatal(err)
		}
		h.idle()
		var waiting struct{ Posts int }
		if h.query(&waiting, "digest", "ls", list); waiting.Posts == 0 {
			copies += 2
		}
	}
	if copies != int64(len(posts))+2 {
		t.Fatalf("%d copies", copies)
	}
	if out := h.must("digest", "send", list); !strings.Contains(out, "Issue 2") {
		t.Error(out)
	}
	if err := sink.Wait(patient(t), copies+2); err != nil {
		t.Fatal(err)
	}
	h.idle()
	d.stop()
	if left := h.files("lists/" + list + "/digest"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	for _, id := range posts {
		for _, reader := range []string{"m0001@members.example", "m0002@members.example"} {
			n := 0
			for _, m := range sink.Messages() {
				if m.Recipients[0] == reader && strings.Contains(string(m.Raw), "This is "+id+".") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("post %s is in %d digests to %s", id, n, reader)
			}
		}
	}
}
