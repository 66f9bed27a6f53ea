package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestFullDisk: on a full share a post is answered 452 and the session goes on; what
// was taken before is not lost, and when there is space again all goes on by itself.
func TestFullDisk(t *testing.T) {
	needRoot(t)
	const list, members = "ant@lists.example.com", 2
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := bareHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	if err := os.Mkdir(h.conf.Var, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", h.conf.Var).CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("no tmpfs can be mounted: %v: %s", err, out))
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", h.conf.Var).Run() })
	h.must("init")
	h.list(list, members, "archive_policy=never", "max_message_size=0")
	d := h.start()
	ballast := filepath.Join(h.conf.Var, "ballast")
	fill, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); ; {
		if _, err := fill.Write(block); err != nil {
			break
		}
	}
	_ = fill.Close()
	c := d.lmtp()
	big := strings.Repeat(strings.Repeat("y", 70)+"\n", 1500)
	var taken []string
	refused := 0
	for i := range 5 {
		id := fmt.Sprintf("full.%d@posts.example", i)
		c.ok("MAIL FROM:<"+poster+">", "250")
		c.ok("RCPT TO:<"+list+">", "250")
		c.ok("RCPT TO:<"+list+">", "250")
		for _, r := range c.data(message(poster, list, id)+big, 2) {
			switch {
			case strings.HasPrefix(r, "452 4.3.1"), strings.HasPrefix(r, "451"):
				refused++
			case strings.HasPrefix(r, "250"):
				taken = append(taken, id)
			default:
				t.Errorf("answer on a full share: %s", r)
			}
		}
	}
	if refused != 10 {
		t.Errorf("%d of 10 answers are refusals", refused)
	}
	if r := h.run(message(poster, list, "pipe@posts.example")+big, "deliver", "-f", poster, list); r.code != 75 {
		t.Errorf("pipe: %v, want 75", r)
	}
	dial(t, "tcp", d.addr("lmtp"), "LHLO").ok("NOOP", "250")
	if left := h.files("queue/in"); len(left) > 0 {
		t.Errorf("half an entry is visible: %v", left)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.post(poster, message(poster, list, "after@posts.example")+big, list)
	until(t, "the copies", func() bool { return len(count(sink)["after@posts.example"]) == members })
	h.idle()
	d.stop()
	count(sink).once(t, append(taken, "after@posts.example"), memberNames(members))
}

// TestManyWriters: processes of two hosts that change one list as fast as they can
// lose no change of each other's; a reader meanwhile sees a list each time.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	const list, each = "ant@lists.example.com", 30
	a := newHost(t, "a")
	b := a.with("b")
	a.list(list, 0)
	var wg sync.WaitGroup
	for _, h := range []*host{a, b} {
		wg.Go(func() {
			for i := range each {
				if r := h.run("", "member", "add", list, fmt.Sprintf("%s%d@members.example", h.conf.Host, i)); r.code != 0 {
					t.Errorf("member add: %v", r)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if r := a.run("", "--json", "member", "ls", list); r.code != 0 || !strings.HasPrefix(r.out, "[") {
			t.Errorf("member ls: %v", r)
		}
	}
	if n := strings.Count(a.must("member", "export", list), "\n"); n != 2*each {
		t.Errorf("%d members, want %d", n, 2*each)
	}
}

// TestTwoHolds: one post held on two lists is two matters.
func TestTwoHolds(t *testing.T) {
	const ant, bee = "ant@lists.example.com", "bee@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(ant, 2)
	h.list(bee, 2)
	d := h.start()
	post := message("zed@example.net", ant+", "+bee, "r021@example.net")
	d.lmtp().post("zed@example.net", post, ant, bee)
	held := func(list string) int {
		var rows []map[string]any
		h.query(&rows, "held", "ls", list)
		return len(rows)
	}
	until(t, "a hold on each list", func() bool { return held(ant) == 1 && held(bee) == 1 })
	h.must("held", "discard", ant, "--all")
	h.must("held", "accept", bee, "--all")
	until(t, "the copies", func() bool { return len(count(sink)["r021@example.net"]) == 2 })
	d.lmtp().post("zed@example.net", post, ant)
	until(t, "the hold", func() bool { return held(ant) == 1 })
	h.idle()
	d.stop()
	count(sink).once(t, []string{"r021@example.net"}, memberNames(2))
	for _, m := range sink.Messages() {
		if m.MessageID == "<r021@example.net>" && !strings.Contains(string(m.Raw), "This is r021@example.net.") {
			t.Errorf("body lost:\n%s", m.Raw)
		}
	}
	if left := h.files("lists/" + bee + "/held"); len(left) > 0 {
		t.Errorf("left of the hold: %v", left)
	}
}
