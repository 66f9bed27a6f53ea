package intake

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"qrunner/lists"
)

// plainData is RFC 5321 §4.5.2 in three lines: the end is the first CR LF "." CR LF,
// counting the CR LF of the DATA command; then a dot behind each CR LF goes.
func plainData(wire string) (message, rest string, ok bool) {
	text, rest, ok := strings.Cut("\r\n"+wire, "\r\n.\r\n")
	if !ok {
		return "", "", false
	}
	return strings.ReplaceAll(text+"\r\n", "\r\n.", "\r\n")[2:], rest, true
}

// FuzzData compares our reading, through the smallest of buffers, with the above.
func FuzzData(f *testing.F) {
	for _, s := range []string{
		".\r\n", "a\r\n.\r\nQUIT\r\n", "a\n.\r\nb\r\n.\r\n", "a\r.\r\n.\r\n", "\r\r\n.\r\n", "..\r\n.\r\n", ".\r\r\n.\r\n",
		"0123456789abcde\r\n.\r\n", "0123456789abcd\r\n.\r\n", "\x00\r\n.\n\r\n.\r\n", "a", "", "0123456789abcde\r\r\n..\r\n.\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		in := New(Config{Limits: Limits{Line: 1 << 30}})
		c := newConn(nil, "", newGate(nil, in.door))
		c.in = bufio.NewReaderSize(strings.NewReader(wire), 16)
		b := in.newBody(0)
		want, wantRest, ok := plainData(wire)
		if err := c.message(b); (err == nil) != ok {
			t.Fatalf("%q: %v, want ok %v", wire, err, ok)
		}
		if !ok {
			return
		}
		rest, err := io.ReadAll(c.in)
		if err != nil || string(b.raw) != want || string(rest) != wantRest {
			t.Fatalf("%q: got %q and %q, want %q and %q", wire, b.raw, rest, want, wantRest)
		}
		if end, err := c.command(); c.data || err == nil && len(end) > 0 {
			t.Fatalf("still inside")
		}
		b.free()
		if n := in.memory.Load(); n != 0 {
			t.Fatalf("%d octets not given back", n)
		}
	})
}

// TestBodyLimits goes up to each limit, and one octet beyond.
func TestBodyLimits(t *testing.T) {
	in := newIntake(t, newShare(), Limits{Message: 100, Line: 40, Memory: 1000})
	for name, test := range map[string]struct {
		lines []string
		want  *reply
	}{
		"empty":       {nil, nil},
		"line":        {[]string{strings.Repeat("x", 39) + "\n"}, nil},
		"long line":   {[]string{strings.Repeat("x", 40) + "\n"}, errLine},
		"in parts":    {[]string{strings.Repeat("x", 20), strings.Repeat("x", 20), "\n"}, errLine},
		"message":     {[]string{strings.Repeat("123456789\n", 1), strings.Repeat("x", 39) + "\n", strings.Repeat("x", 39) + "\n", "123456789\n"}, nil},
		"too big":     {[]string{strings.Repeat("x", 39) + "\n", strings.Repeat("x", 39) + "\n", "1234567890123456789\n", "\n"}, errTooBig},
		"first fault": {[]string{strings.Repeat("x", 41) + "\n", strings.Repeat("1234\n", 100)}, errLine},
	} {
		b := in.newBody(0)
		var all bytes.Buffer
		for _, l := range test.lines {
			all.WriteString(l)
			b.add([]byte(l))
		}
		if b.over != test.want {
			t.Errorf("%s: %v, want %v", name, b.over, test.want)
		}
		if test.want == nil && !bytes.Equal(b.raw, all.Bytes()) {
			t.Errorf("%s: has %q", name, b.raw)
		}
		b.free()
		if n := in.memory.Load(); n != 0 {
			t.Errorf("%s: %d octets not given back", name, n)
		}
	}
}

func TestQueueOf(t *testing.T) {
	for sub, want := range map[lists.SubAddress]string{
		lists.SubPost: "in", lists.SubOwner: "in", lists.SubBounces: "bounces", lists.SubRequest: "command", lists.SubConfirm: "command", lists.SubJoin: "command", lists.SubUnsubscribe: "command", lists.SubAdmin: "bounces",
	} {
		if got := queueOf(lists.Target{List: "ant@lists.example.com", Sub: sub}); string(got) != want {
			t.Errorf("%q goes to %s, want %s", sub, got, want)
		}
	}
	if got := queueOf(lists.Target{List: lists.Site, Sub: lists.SubRequest}); got != "in" {
		t.Errorf("site mail goes to %s", got)
	}
}
