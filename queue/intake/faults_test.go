package intake

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
)

// client is a small LMTP or SMTP client for tests.
type client struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func newClient(t testing.TB, conn net.Conn, proto string) *client {
	t.Helper()
	c := &client{t, conn, bufio.NewReader(conn)}
	c.want("220")
	hello := "EHLO"
	if proto == "lmtp" {
		hello = "LHLO"
	}
	if got := c.cmd(hello + " client.example.org"); !strings.HasPrefix(got, "250") {
		t.Fatalf("%s: %s", hello, got)
	}
	return c
}

// reply reads one reply and returns its last line.
func (c *client) reply() string {
	c.t.Helper()
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			c.t.Fatalf("read reply: %q, %v", line, err)
		}
		if len(line) < 4 || line[3] != '-' {
			return strings.TrimRight(line, "\r\n")
		}
	}
}

func (c *client) want(prefix string) {
	c.t.Helper()
	if got := c.reply(); !strings.HasPrefix(got, prefix) {
		c.t.Fatalf("got %q, want %q", got, prefix)
	}
}

func (c *client) write(s string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) cmd(line string) string {
	c.t.Helper()
	c.write(line + "\r\n")
	return c.reply()
}

// begin opens a transaction up to 354.
func (c *client) begin(rcpt ...string) {
	c.t.Helper()
	c.write("MAIL FROM:<anne@example.org>\r\nRCPT TO:<" + strings.Join(rcpt, ">\r\nRCPT TO:<") + ">\r\nDATA\r\n")
	for range len(rcpt) + 1 {
		c.want("250")
	}
	c.want("354")
}

// TestFaultsAreTemporary makes each call fail in each way, over real connections.
// Nothing but a certain "no such list" may be permanent, and the session goes on.
func TestFaultsAreTemporary(t *testing.T) {
	special := map[string]string{
		"ok": "250", "ENOSPC": "452 4.3.1", "EDQUOT": "452 4.3.1", "canceled": "451 4.3.2",
		"resolve nolist": "550 5.1.1",
	}
	for _, proto := range []string{"lmtp", "smtp"} {
		for name, fault := range faults {
			for _, call := range []string{"resolve", "put"} {
				t.Run(fmt.Sprintf("%s/%s/%s", proto, call, name), func(t *testing.T) {
					want := "451 4.3.0"
					for _, key := range []string{name, call + " " + name} {
						if s, ok := special[key]; ok {
							want = s
						}
					}
					s := newShare()
					c := newClient(t, dial(t, newIntake(t, s, Limits{}), proto, "tcp"), proto)
					if call == "put" {
						s.fail(s.put, "ant@lists.example.com", fault)
						c.begin("ant@lists.example.com")
						c.write("hello\r\n.\r\n")
						c.want(want)
					} else {
						s.fail(s.resolve, "ant@lists.example.com", fault)
						c.cmd("MAIL FROM:<>")
						if got := c.cmd("RCPT TO:<ant@lists.example.com>"); !strings.HasPrefix(got, want) {
							t.Fatalf("got %q, want %q", got, want)
						}
						c.cmd("RSET")
					}
					s.fail(s.put, "ant@lists.example.com", nil)
					s.fail(s.resolve, "ant@lists.example.com", nil)
					c.begin("ant@lists.example.com")
					c.write("again\r\n.\r\n")
					c.want("250")
				})
			}
		}
	}
}

// TestPanicInTheMiddle: what was stored is answered so, the rest is temporary.
func TestPanicInTheMiddle(t *testing.T) {
	s := newShare()
	s.fail(s.put, "bee@lists.example.com", errPanic)
	c := newClient(t, dial(t, newIntake(t, s, Limits{}), "lmtp", "tcp"), "lmtp")
	c.begin("ant@lists.example.com", "bee@lists.example.com", "ant-owner@lists.example.com")
	c.write("hello\r\n.\r\n")
	c.want("250 2.0.0 <ant@")
	c.want("451 4.3.0 <bee@")
	c.want("451 4.3.0 <ant-owner@")
	if got := s.take(); len(got) != 1 {
		t.Errorf("%d entries", len(got))
	}
	if got := c.cmd("NOOP"); !strings.HasPrefix(got, "250") {
		t.Errorf("session ended: %q", got)
	}
}

// TestRewriteIsTheLastNet: a 554 of the library itself does not get out.
func TestRewriteIsTheLastNet(t *testing.T) {
	lines, rest := rewrite([]byte("554 5.0.0 <a@b> Error: transaction failed: x\r\n250-CHUNKING\r\n250 ok\r\n25"))
	if got, want := string(lines), "451 4.3.0 temporary trouble here, try again later\r\n250 ok\r\n"; got != want || string(rest) != "25" {
		t.Errorf("got %q and %q", got, rest)
	}
}

// TestLostConnection: a message without its end is not stored.
func TestLostConnection(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{})
	conn := dial(t, in, "lmtp", "tcp")
	c := newClient(t, conn, "lmtp")
	c.begin("ant@lists.example.com", "bee@lists.example.com")
	c.write("hello\r\nQUIT\r\n")
	conn.(*net.TCPConn).CloseWrite()
	c.want("451 4.4.2 <ant@")
	c.want("451 4.4.2 <bee@")
	if rest, err := c.in.ReadString('\n'); err == nil {
		t.Errorf("the message was read as commands: %q", rest)
	}
	if got := s.take(); len(got) > 0 {
		t.Errorf("stored %q", got[0].Raw)
	}
	if n := in.memory.Load(); n != 0 {
		t.Errorf("%d octets not given back", n)
	}
}
