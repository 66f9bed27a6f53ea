package smtpout_test

import (
	"io"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"qrunner/queue/smtpout"
)

// A server that says no in the middle of a message and hangs up is understood: else
// a message that is too big would be tried for days.
func TestRefusedWithinTheMessage(t *testing.T) {
	for reply, want := range map[string]string{"552 5.3.4 too big": "552 dot", "421 4.3.2 full": "421 dot", "250 ok": "0 data"} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			c := textproto.NewConn(conn)
			for _, r := range []string{"220 x", "250 x", "250 ok", "250 ok", "354 go"} {
				if c.PrintfLine("%s", r) != nil {
					return
				}
				if r != "354 go" {
					c.ReadLine()
				}
			}
			io.CopyN(io.Discard, conn, 1000)
			c.PrintfLine("%s", reply)
		}()
		pool, err := smtpout.New(smtpout.Config{Host: l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := mail("a@x.org")
		m.Raw = []byte(strings.Repeat("0123456789\r\n", 16<<20/12)) // more than the sockets hold
		if got := outline(c.Send(t.Context(), m)); got != want || !c.Broken() {
			t.Errorf("%s: %s, want %s", reply, got, want)
		}
		c.Release()
	}
}
