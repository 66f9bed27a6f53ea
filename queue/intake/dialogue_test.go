package intake

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A dialogue file has one step per line:
//
//	C: text       the client sends the line
//	C+ text       the same, in one segment with the next step of the client
//	C= "text"     the client sends these octets (Go syntax), without a line end
//	C* n "text"   the same, n times
//	S: text       the server's next line begins so
//	CLOSED        the server closes the connection
//	PUT address fault, RESOLVE address fault
//	              from now on the call fails so; fault "ok" heals it
//	STORED queue list address "octets"
//	              the next entry that was stored
//	NOTHING       nothing (more) was stored
//
// The limits are those of dialogueLimits.
var dialogueLimits = Limits{Message: 4096, Line: 2048, Recipients: 5}

func TestDialogues(t *testing.T) {
	for _, proto := range []string{"lmtp", "smtp"} {
		files, err := filepath.Glob(filepath.Join("testdata", proto, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no dialogues: %v", err)
		}
		for _, file := range files {
			for _, network := range []string{"tcp", "unix"} {
				name := proto + "/" + network + "/" + strings.TrimSuffix(filepath.Base(file), ".txt")
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := newShare()
					p := &player{t: t, share: s, conn: dial(t, newIntake(t, s, dialogueLimits), proto, network)}
					p.play(file)
				})
			}
		}
	}
}

// dial serves in on a real listener for the length of the test and connects to it.
func dial(t testing.TB, in *Intake, proto, network string) net.Conn {
	t.Helper()
	return connect(t, serve(t, in, proto, network))
}

// serve starts a server that is stopped, and waited for, at the end of the test.
func serve(t testing.TB, in *Intake, proto, network string) net.Addr {
	t.Helper()
	e := Endpoint{Addr: "127.0.0.1:0"}
	if network == "unix" {
		dir, err := os.MkdirTemp("", "intake")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		e = Endpoint{Addr: "unix:" + filepath.Join(dir, "s"), Mode: 0o660, UID: -1, GID: -1}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := Listen(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	run := in.ServeSMTP
	if proto == "lmtp" {
		run = in.ServeLMTP
	}
	done := make(chan error, 1)
	go func() { done <- run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr()
}

func connect(t testing.TB, a net.Addr) net.Conn {
	t.Helper()
	c, err := net.Dial(a.Network(), a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute)) // a hang is a failure, not a clock to test by
	return c
}

// player carries out a dialogue.
type player struct {
	t     *testing.T
	share *share
	conn  net.Conn
	in    *bufio.Reader
	held  string
	where string
}

func (p *player) play(file string) {
	p.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.in = bufio.NewReader(p.conn)
	for i, step := range strings.Split(string(text), "\n") {
		p.where = fmt.Sprintf("%s:%d: %s", filepath.Base(file), i+1, step)
		word, rest, _ := strings.Cut(step, " ")
		p.step(word, rest)
	}
	if left := p.share.take(); len(left) > 0 {
		p.t.Errorf("%s: %d entries stored that the dialogue does not name", file, len(left))
	}
}

func (p *player) step(word, rest string) {
	switch word {
	case "", "#":
	case "C:":
		p.send(rest + "\r\n")
	case "C+":
		p.held += rest + "\r\n"
	case "C=":
		p.send(p.unquote(rest))
	case "C*":
		n, text, _ := strings.Cut(rest, " ")
		times, err := strconv.Atoi(n)
		if err != nil {
			p.t.Fatalf("%s: %v", p.where, err)
		}
		p.send(strings.Repeat(p.unquote(text), times))
	case "S:":
		line, err := p.in.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, rest) || !strings.HasSuffix(line, "\r\n") || len(line) > replyLine {
			p.t.Fatalf("%s: got %q, %v", p.where, line, err)
		}
	case "CLOSED":
		if rest, err := io.ReadAll(p.in); len(rest) > 0 || err != nil {
			p.t.Fatalf("%s: got %q, %v", p.where, rest, err)
		}
	case "PUT", "RESOLVE":
		p.fault(word, strings.Fields(rest))
	case "STORED":
		p.stored(rest)
	case "NOTHING":
		if got := p.share.take(); len(got) > 0 {
			p.t.Fatalf("%s: %d entries", p.where, len(got))
		}
	default:
		p.t.Fatalf("%s: no such step", p.where)
	}
}

func (p *player) send(s string) {
	s, p.held = p.held+s, ""
	if _, err := io.WriteString(p.conn, s); err != nil {
		p.t.Fatalf("%s: %v", p.where, err)
	}
}

func (p *player) fault(word string, f []string) {
	err, ok := faults[f[1]]
	if !ok {
		p.t.Fatalf("%s: no such fault", p.where)
	}
	where := p.share.put
	if word == "RESOLVE" {
		where = p.share.resolve
	}
	p.share.fail(where, f[0], err)
}

func (p *player) stored(want string) {
	p.share.mu.Lock()
	defer p.share.mu.Unlock()
	if len(p.share.stored) == 0 {
		p.t.Fatalf("%s: nothing was stored", p.where)
	}
	e := p.share.stored[0]
	p.share.stored = p.share.stored[1:]
	got := fmt.Sprintf("%s %s %s %q", e.Queue, e.List, e.Target.Address(), e.Raw)
	f := strings.SplitN(want, " ", 4)
	f[3] = strconv.Quote(p.unquote(f[3]))
	if got != strings.Join(f, " ") {
		p.t.Fatalf("%s:\ngot STORED %s", p.where, got)
	}
}

func (p *player) unquote(s string) string {
	out, err := strconv.Unquote(s)
	if err != nil {
		p.t.Fatalf("%s: %v", p.where, err)
	}
	return out
}
