package e2e

import (
	"slices"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestOddMessages sends what real and hostile senders send. Each is answered as it
// should, decided on, and none keeps the list from the post that follows.
func TestOddMessages(t *testing.T) {
	t.Parallel()
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", func(c *config.Config) {
		c.Smarthost.Address = addr
		c.Limits.MessageSize = 1 << 20
	})
	h.list(list, 1)
	d := h.start()
	body := func(id, text string) string { return message(poster, list, id) + text }
	hops := slices.Repeat([]string{"Received: from a by b; Tue, 01 Dec 2026 09:00:00 +0000"}, 100)
	for _, tc := range []struct{ id, raw, reply, event string }{
		{"nul", body("nul", "\x00\x00 before and after \x00\n"), "250", "accepted"},
		{"long", body("long", strings.Repeat("x", 10000)+"\n"), "250", "accepted"},
		{"longheader", message(poster, list, "longheader", "References: "+strings.Repeat("<a@b> ", 2000)), "250", "accepted"},
		{"hops", message(poster, list, "hops", hops...), "250", "discarded"},
		{"nofrom", "To: " + list + "\nSubject: x\nMessage-ID: <nofrom>\n\nbody\n", "250", "held"},
		{"nobody", "From: " + poster + "\nTo: " + list + "\nSubject: x\nMessage-ID: <nobody>\n", "250", "accepted"},
		{"noheader", "\nMessage-ID: <noheader>\n", "250", ""},
		{"empty", "", "250", ""},
		{"toobig", body("toobig", strings.Repeat(strings.Repeat("y", 70)+"\n", 20000)), "552 5.3.4", ""},
		{"8bit", message("Änne <"+poster+">", list, "8bit", "X-Raw: \xe9\xfc"), "250", "accepted"},
		{"last", body("last", ""), "250", "accepted"},
	} {
		c := d.lmtp()
		c.ok("MAIL FROM:<"+poster+">", "250")
		c.ok("RCPT TO:<"+list+">", "250")
		if got := c.data(tc.raw, 1)[0]; !strings.HasPrefix(got, tc.reply) {
			t.Errorf("%s: answer %q, want %s", tc.id, got, tc.reply)
		}
		if tc.event == "" {
			continue
		}
		until(t, "a word on "+tc.id, func() bool { ev, _ := h.outcome(tc.id); return ev != "" })
		if ev, why := h.outcome(tc.id); ev != tc.event {
			t.Errorf("%s: %s (%s), want %s", tc.id, ev, why, tc.event)
		}
	}
	h.idle()
	d.stop()
	got := count(sink)
	for _, id := range []string{"nul", "long", "longheader", "8bit", "nobody", "last"} {
		if got[id][poster] != 1 {
			t.Errorf("%s: %d copies", id, got[id][poster])
		}
	}
	for _, m := range sink.Messages() {
		for line := range strings.SplitSeq(string(m.Raw), "\r\n") {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("%s went out with a bare CR or LF", m.MessageID)
			}
		}
	}
	if left := append(h.files("queue/shunt"), h.files("queue/bad")...); len(left) > 0 {
		t.Errorf("parked: %v", left)
	}
}

// TestBareLineEnds: bare CR and LF are no line ends, and no way to smuggle a second
// message in.
func TestBareLineEnds(t *testing.T) {
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, 1)
	d := h.start()
	for _, end := range []string{"\n.\n", "\n.\r\n", "\r.\r", "\r\n.\r", "\r\n.\n"} {
		c := d.lmtp()
		c.ok("MAIL FROM:<"+poster+">", "250")
		c.ok("RCPT TO:<"+list+">", "250")
		c.ok("DATA", "354")
		head := "From: " + poster + "\r\nTo: " + list + "\r\nSubject: smuggle\r\nMessage-ID: <smuggle@posts.example>\r\n\r\nbody"
		inner := "MAIL FROM:<" + poster + ">\r\nRCPT TO:<" + list + ">\r\nDATA\r\nMessage-ID: <inner@posts.example>\r\n\r\ninner\r\n.\r\n"
		if _, err := c.W.WriteString(head + end + inner); err != nil {
			t.Fatal(err)
		}
		if err := c.W.Flush(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: %s", end, c.reply())
		c.ok("NOOP", "250") // in step: there was one message
	}
	h.idle()
	d.stop()
	for _, m := range sink.Messages() {
		if m.MessageID == "<inner@posts.example>" {
			t.Errorf("smuggled:\n%q", m.Raw)
		}
	}
}

// TestNames: what a list may not be called, and who there is no list of.
func TestNames(t *testing.T) {
	h := newHost(t, "a")
	h.list("ant@lists.example.com", 1)
	for _, bad := range []string{
		"a/b@lists.example.com", "../x@lists.example.com", "..@lists.example.com", "a\nb@lists.example.com", "näh@lists.example.com",
		"@lists.example.com", "ant", "", ".hidden@lists.example.com", "-x@lists.example.com", "_site", "a b@lists.example.com",
		strings.Repeat("x", 200) + "@lists.example.com",
	} {
		if r := h.run("", "list", "create", "--", bad); r.code == 0 || r.err == "" || strings.Contains(r.err, "panic") {
			t.Errorf("list create %q: %v", bad, r)
		}
		for _, args := range [][]string{{"list", "show", "--", bad}, {"held", "ls", "--", bad}, {"member", "ls", "--", bad}} {
			if r := h.run("", args...); r.code == 0 && bad != "_site" {
				t.Errorf("%q: %v", args, r)
			}
		}
	}
	if out := h.must("list", "ls"); strings.Count(out, "\n") != 2 {
		t.Errorf("lists:\n%s", out)
	}
	if r := h.run("", "list", "create", "ANT@Lists.Example.COM"); r.code == 0 {
		t.Errorf("the same list in other case: %v", r)
	}
	d := h.start()
	c := d.lmtp()
	c.ok("MAIL FROM:<"+poster+">", "250")
	for addr, want := range map[string]string{
		"ANT@Lists.Example.COM": "250", `"ant"@lists.example.com`: "250", "ant-OWNER@lists.example.com": "250",
		"ant-bounces+m=x.example@lists.example.com": "250", "nosuch@lists.example.com": "550 5.1.1", "ant-nosuch@lists.example.com": "550 5.1.1",
		"ant@elsewhere.example": "550 5.1.1", "../ant@lists.example.com": "550 5.1.1", "a/b@lists.example.com": "550 5.1.1",
		"_site@lists.example.com": "550 5.1.1", "postmaster@elsewhere.example": "550 5.1.1",
	} {
		if got := c.say("RCPT TO:<" + addr + ">"); !strings.HasPrefix(got, want) {
			t.Errorf("RCPT %s: %q, want %s", addr, got, want)
		}
	}
	d.stop()
}
