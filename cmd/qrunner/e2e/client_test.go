package e2e

import (
	"net/textproto"
	"strings"
	"testing"
)

// client speaks LMTP or SMTP, one command at a time.
type client struct {
	t *testing.T
	*textproto.Conn
}

// dial connects and says hello ("LHLO" or "EHLO").
func dial(t *testing.T, network, addr, hello string) *client {
	t.Helper()
	conn, err := textproto.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &client{t, conn}
	c.expect("220")
	c.ok(hello+" client.example", "250")
	return c
}

// reply reads one answer.
func (c *client) reply() string {
	c.t.Helper()
	code, text, err := c.ReadResponse(0)
	if err != nil && code == 0 {
		c.t.Fatalf("read reply: %v", err)
	}
	return strings.TrimSpace(strings.Join([]string{itoa(code), text}, " "))
}

func itoa(n int) string {
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}

// say sends a command and returns the answer.
func (c *client) say(line string) string {
	c.t.Helper()
	if err := c.PrintfLine("%s", line); err != nil {
		c.t.Fatalf("send %q: %v", line, err)
	}
	return c.reply()
}

func (c *client) expect(prefix string) {
	c.t.Helper()
	if r := c.reply(); !strings.HasPrefix(r, prefix) {
		c.t.Fatalf("got %q, want %s", r, prefix)
	}
}

// ok sends a command that has to be answered so.
func (c *client) ok(line, prefix string) {
	c.t.Helper()
	if r := c.say(line); !strings.HasPrefix(r, prefix) {
		c.t.Fatalf("%s: %q, want %s", line, r, prefix)
	}
}

// data sends a message and reads n answers.
func (c *client) data(raw string, n int) []string {
	c.t.Helper()
	c.ok("DATA", "354")
	w := c.DotWriter()
	if _, err := w.Write([]byte(raw)); err != nil {
		c.t.Fatalf("send message: %v", err)
	}
	if err := w.Close(); err != nil {
		c.t.Fatalf("send message: %v", err)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = c.reply()
	}
	return out
}

// post is a whole transaction that has to be taken for every recipient.
func (c *client) post(from, raw string, to ...string) {
	c.t.Helper()
	c.ok("MAIL FROM:<"+from+">", "250")
	for _, r := range to {
		c.ok("RCPT TO:<"+r+">", "250")
	}
	for _, r := range c.data(raw, len(to)) {
		if !strings.HasPrefix(r, "250") {
			c.t.Fatalf("post: %q", r)
		}
	}
}

// lmtp connects to a daemon.
func (d *daemon) lmtp() *client {
	d.t.Helper()
	return dial(d.t, "tcp", d.addr("lmtp"), "LHLO")
}
