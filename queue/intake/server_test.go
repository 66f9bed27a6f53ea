package intake

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/trace"
)

func TestEnvelope(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{})
	var events []trace.Event
	in.Trace = func(_ context.Context, e trace.Event) { events = append(events, e) }
	c := newClient(t, dial(t, in, "lmtp", "tcp"), "lmtp")
	c.cmd("MAIL FROM:<Anne@Example.ORG> BODY=8BITMIME SMTPUTF8")
	c.cmd("RCPT TO:<ant@lists.example.com>")
	c.cmd("RCPT TO:<ant-confirm+tok@lists.example.com>")
	c.cmd("DATA")
	c.write("Message-ID: <1@example.org>\r\n.\r\n")
	first := c.reply()
	c.want("250")
	c.cmd("NOOP") // by now all was told
	got := s.take()
	env := queue.Envelope{
		Sender: "Anne@example.org", Target: lists.Target{List: "ant@lists.example.com"},
		Source: "lmtp 127.0.0.1", UTF8: true, EightBit: true,
	}
	confirm := env
	confirm.Target.Sub, confirm.Target.Extra = lists.SubConfirm, "tok"
	raw := []byte("Message-ID: <1@example.org>\r\n")
	want := []queue.Entry{
		{Queue: queue.In, List: "ant@lists.example.com", Envelope: env, Raw: raw},
		{Queue: queue.Command, List: "ant@lists.example.com", Envelope: confirm, Raw: raw},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(queue.Envelope{}, "Trace")); d != "" {
		t.Error(d)
	}
	if got[0].Trace == "" || got[0].Trace != got[1].Trace || !strings.Contains(first, got[0].Trace) {
		t.Errorf("traces %q and %q, reply %q", got[0].Trace, got[1].Trace, first)
	}
	for i, e := range got {
		told := trace.Event{
			Trace: e.Trace, MessageID: "<1@example.org>", List: e.List, Entry: events[i].Entry, Queue: e.Queue, Event: "received",
			Detail: "lmtp 127.0.0.1 from <Anne@example.org>", Rcpt: string(e.Target.Address()),
		}
		if d := cmp.Diff(told, events[i]); d != "" || told.Entry == "" {
			t.Error(d)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := cmp.Diff([]string{"in/ant@lists.example.com", "command/ant@lists.example.com"}, s.woken); d != "" {
		t.Error(d)
	}
}

// TestTenConnections stores from ten clients at the same time, each its own.
func TestTenConnections(t *testing.T) {
	const clients, each = 10, 30
	s := newShare()
	addr := serve(t, newIntake(t, s, Limits{}), "lmtp", "tcp")
	var wg sync.WaitGroup
	for i := range clients {
		c := newClient(t, connect(t, addr), "lmtp")
		wg.Go(func() {
			for k := range each {
				c.begin("ant@lists.example.com", "bee@lists.example.com")
				c.write(fmt.Sprintf("%d %d %s\r\n.\r\n", i, k, strings.Repeat("x", 1000*k)))
				c.want("250")
				c.want("250")
			}
		})
	}
	wg.Wait()
	seen := map[string]int{}
	for _, e := range s.take() {
		f := strings.Split(string(e.Raw), " ")
		if k, err := strconv.Atoi(f[1]); err != nil || len(f) != 3 || len(f[2]) != 1000*k+2 {
			t.Fatalf("damaged entry %q", e.Raw)
		}
		seen[string(e.List)+" "+f[0]+" "+f[1]]++
	}
	if len(seen) != 2*clients*each {
		t.Errorf("%d different entries, want %d", len(seen), 2*clients*each)
	}
}

// TestFaultyAnnouncement: what is stored is answered so, whatever comes after.
func TestFaultyAnnouncement(t *testing.T) {
	for _, proto := range []string{"lmtp", "smtp"} {
		s := newShare()
		in := newIntake(t, s, Limits{})
		in.Wake = func(queue.Name, lists.ID) { panic("no runner") }
		c := newClient(t, dial(t, in, proto, "tcp"), proto)
		for range 2 {
			c.begin("ant@lists.example.com")
			c.write(".\r\n")
			c.want("250")
		}
		err := in.Deliver(t.Context(), DeliverArgs{Words: []string{"post", "ant"}}, strings.NewReader(small))
		if got := s.take(); err != nil || len(got) != 3 {
			t.Errorf("%s: %d entries, %v", proto, len(got), err)
		}
	}
}

func TestConnectionLimits(t *testing.T) {
	for name, test := range map[string]struct {
		limits  Limits
		network string
		allowed int
	}{
		"total":      {Limits{Conns: 2}, "tcp", 2},
		"per client": {Limits{ConnsPerClient: 1}, "tcp", 1},
		"unix":       {Limits{Conns: 3, ConnsPerClient: 1}, "unix", 3},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, newIntake(t, newShare(), test.limits), "lmtp", test.network)
			var in []*client
			for range test.allowed {
				in = append(in, newClient(t, connect(t, addr), "lmtp"))
			}
			refused, err := io.ReadAll(connect(t, addr))
			if err != nil || !strings.HasPrefix(string(refused), "421 4.7.0") {
				t.Fatalf("one too many: %q, %v", refused, err)
			}
			in[0].cmd("QUIT")
			if _, err := in[0].in.ReadByte(); err != io.EOF {
				t.Fatal(err)
			}
			newClient(t, connect(t, addr), "lmtp")
		})
	}
}

// TestEndlessLine sends 200 MB without a line end: refused, in bounded memory.
func TestEndlessLine(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{})
	c := newClient(t, dial(t, in, "lmtp", "tcp"), "lmtp")
	c.begin("ant@lists.example.com")
	chunk := []byte(strings.Repeat("a", 1<<16))
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	for i := range 200_000_000 / len(chunk) {
		if _, err := c.conn.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
		}
	}
	c.write("\r\n.\r\n")
	c.want("500 5.6.0")
	if grown := int64(most) - int64(before.HeapInuse); grown > 4<<20 {
		t.Errorf("heap grew by %d octets", grown)
	}
	c.begin("ant@lists.example.com")
	c.write(".\r\n")
	c.want("250")
}

// TestMemoryLimit: with too much mail in hand, more is refused for now.
func TestMemoryLimit(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{Message: 1 << 20, Memory: 1 << 20})
	addr := serve(t, in, "lmtp", "tcp")
	a, b := newClient(t, connect(t, addr), "lmtp"), newClient(t, connect(t, addr), "lmtp")
	line := strings.Repeat("x", 70) + "\r\n"
	a.begin("ant@lists.example.com")
	a.write(strings.Repeat(line, 10_000))
	for in.memory.Load() < 600_000 {
		runtime.Gosched()
	}
	b.begin("ant@lists.example.com")
	b.write(strings.Repeat(line, 10_000) + ".\r\n")
	b.want("452 4.3.1")
	a.write(".\r\n")
	a.want("250")
	a.cmd("NOOP") // by now the memory is free
	b.begin("ant@lists.example.com")
	b.write(strings.Repeat(line, 10_000) + ".\r\n")
	b.want("250")
	b.cmd("NOOP")
	if n := in.memory.Load(); n != 0 {
		t.Errorf("%d octets not given back", n)
	}
}

func TestListenUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	e := Endpoint{Addr: "unix:" + path, Mode: 0o600, UID: os.Getuid(), GID: os.Getgid()}
	ctx := context.Background()
	first, err := Listen(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("socket is %v, %v", info.Mode(), err)
	}
	if _, err := Listen(ctx, e); err == nil {
		t.Error("a second process got the socket of a living one")
	}
	first.(*socket).UnixListener.Close() // as after a kill: the name stays
	second, err := Listen(ctx, e)
	if err != nil {
		t.Fatalf("dead socket not replaced: %v", err)
	}
	first.Close() // must leave the successor's name alone
	if c, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	second.Close()
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNoLMTPOnPort25(t *testing.T) {
	l := pipeListener{addr: &net.TCPAddr{Port: 25}}
	if err := newIntake(t, newShare(), Limits{}).ServeLMTP(context.Background(), l); err != ErrPort25 {
		t.Errorf("got %v", err)
	}
}
