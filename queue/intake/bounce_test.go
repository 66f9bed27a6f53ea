package intake

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/queue"
)

// A bounce that drags 100 MB along is taken, and cut; so is one whose line is too long.
// Posts of that size are refused all the same.
func TestHugeBounce(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{Message: 4 << 20})
	nc := dial(t, in, "lmtp", "tcp")
	c := newClient(t, nc, "lmtp")
	line := strings.Repeat("x", 998) + "\r\n"
	chunk := strings.Repeat(line, 1000)
	for _, tc := range []struct {
		mail, to, want string
		megabytes      int
	}{
		{"MAIL FROM:<> SIZE=100000000", "ant-bounces+a=b.org@lists.example.com", "250", 100},
		{"MAIL FROM:<anne@example.org>", "ant@lists.example.com", "552", 5},
		{"MAIL FROM:<>", "ant@lists.example.com", "552", 5},
	} {
		c.cmd(tc.mail)
		c.cmd("RCPT TO:<" + tc.to + ">")
		c.cmd("DATA")
		c.write("Subject: failure\r\n\r\n")
		for range tc.megabytes {
			patience(nc)
			c.write(chunk)
		}
		c.write(".\r\n")
		patience(nc)
		c.want(tc.want)
	}
	got := s.take()
	if len(got) != 1 || got[0].Queue != queue.Bounces || len(got[0].Raw) > headKept || len(got[0].Raw) < headKept-2000 ||
		!bytes.HasPrefix(got[0].Raw, []byte("Subject: failure\r\n\r\nxxx")) || !bytes.HasSuffix(got[0].Raw, []byte("x\r\n")) {
		t.Fatalf("%d entries", len(got))
	}
	c.write("MAIL FROM:<anne@example.org> SIZE=100000000\r\n")
	c.want("552")
	if n := in.memory.Load(); n != 0 {
		t.Errorf("%d octets are still counted", n)
	}
}

// patience starts a client's clock anew.
func patience(nc net.Conn) { _ = nc.SetDeadline(time.Now().Add(5 * time.Minute)) }

func TestHugeBounceThroughThePipe(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{Message: 2 << 20})
	big := io.MultiReader(strings.NewReader("Subject: failure\n\n"), strings.NewReader(strings.Repeat("0123456789\n", 1<<20)))
	if err := in.Deliver(context.Background(), DeliverArgs{Words: []string{"ant-bounces@lists.example.com"}}, big); err != nil {
		t.Fatal(err)
	}
	if got := s.take(); len(got) != 1 || got[0].Target.Sub != lists.SubBounces || len(got[0].Raw) > headKept {
		t.Errorf("%d entries", len(got))
	}
	if err := in.Deliver(context.Background(), DeliverArgs{Words: []string{"ant@lists.example.com"}}, strings.NewReader(strings.Repeat("0123456789\n", 1<<20))); err == nil {
		t.Error("a post was taken")
	}
}

func TestWithoutSize(t *testing.T) {
	for in, want := range map[string]string{
		"MAIL FROM:<> SIZE=99\r\n":                 "MAIL FROM:<>\r\n",
		"mail from:<> BODY=8BITMIME size=99 X=Y\n": "mail from:<> BODY=8BITMIME X=Y\r\n",
		"MAIL FROM:<>\r\n":                         "MAIL FROM:<>\r\n",
	} {
		if got := string(withoutSize([]byte(in))); got != want || !isNullMail([]byte(in)) {
			t.Errorf("%q: %q", in, got)
		}
	}
	if isNullMail([]byte("MAIL FROM:<a@b.org> SIZE=1\r\n")) || isNullMail([]byte("MAIL")) {
		t.Error("a sender")
	}
}
