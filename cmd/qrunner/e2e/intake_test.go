package e2e

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestDoors: SMTP with one target per transaction, LMTP on a unix socket with mode and
// owner, the null sender, and mail for the site.
func TestDoors(t *testing.T) {
	const list, other = "ant@lists.example.com", "bee@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	socket := filepath.Join(t.TempDir(), "lmtp.sock")
	h := newHost(t, "a", func(c *config.Config) {
		c.Smarthost.Address = addr
		c.SMTP.Listen = []string{"127.0.0.1:0"}
		c.LMTP.Listen = []string{"unix:" + socket}
		c.LMTP.SocketMode = "0620"
		if os.Getuid() == 0 {
			c.LMTP.SocketOwner = "nobody:nogroup"
		}
	})
	h.list(list, 2)
	h.list(other, 2)
	d := h.start()
	checkSocket(t, socket)
	l := dial(t, "unix", socket, "LHLO")
	l.post(poster, message(poster, list+", "+other, "lmtp@posts.example"), list, other)

	s := dial(t, "tcp", d.addr("smtp"), "EHLO")
	s.ok("MAIL FROM:<"+poster+">", "250")
	s.ok("RCPT TO:<"+list+">", "250")
	s.ok("RCPT TO:<"+other+">", "452 4.5.3")
	s.ok("RCPT TO:<"+list+">", "250") // the same one again
	if r := s.data(message(poster, list, "smtp@posts.example"), 1)[0]; !strings.HasPrefix(r, "250 2.0.0") {
		t.Errorf("SMTP: %s", r)
	}
	s.ok("DATA", "503")
	s.ok("LHLO client.example", "500")

	// Reports from nowhere are stored, and neither distributed nor answered.
	l.post("", message("MAILER-DAEMON@elsewhere.example", list, "null@posts.example"), list)
	l.post("stranger@elsewhere.example", message("stranger@elsewhere.example", "postmaster@lists.example.com", "post@posts.example"), "postmaster@lists.example.com")
	l.post("stranger@elsewhere.example", message("stranger@elsewhere.example", "abuse@lists.example.com", "abuse@posts.example"), "abuse@lists.example.com")
	until(t, "a word on the null sender's mail", func() bool { ev, _ := h.outcome("null@posts.example"); return ev != "" })
	if err := sink.Wait(patient(t), 8); err != nil {
		t.Fatal(err)
	}
	h.idle()
	d.stop()
	got := count(sink)
	got.once(t, []string{"smtp@posts.example"}, memberNames(2))
	if c := got["lmtp@posts.example"]; c[memberNames(2)[0]] != 2 || c[memberNames(2)[1]] != 2 {
		t.Errorf("a post to two lists with the same members: %v", c)
	}
	got.once(t, []string{"post@posts.example", "abuse@posts.example"}, []string{h.conf.Site.Owner})
	if n := len(got); n != 4 {
		t.Errorf("%d messages went out, want 4: %v", n, got)
	}
	ev, why := h.outcome("null@posts.example")
	t.Logf("null sender: %s (%s)", ev, why)
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is left behind")
	}
}

func checkSocket(t *testing.T, name string) {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o620 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("socket has mode %v", info.Mode())
	}
	if os.Getuid() != 0 {
		return
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if strconv.Itoa(int(st.Uid)) != u.Uid || strconv.Itoa(int(st.Gid)) != u.Gid {
		t.Errorf("socket belongs to %d:%d", st.Uid, st.Gid)
	}
}
