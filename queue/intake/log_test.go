package intake

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A refusal is logged with what is known: no empty trace, and the cause only where it
// says more than the reply.
func TestRefusedIsSaidOnce(t *testing.T) {
	s := newShare()
	in := newIntake(t, s, Limits{})
	var log lockedBuffer
	in.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.fail(s.resolve, "bee@lists.example.com", faults["EIO"])
	c := newClient(t, dial(t, in, "lmtp", "tcp"), "lmtp")
	c.cmd("MAIL FROM:<anne@example.org>")
	c.cmd("RCPT TO:<nosuch@lists.example.com>")
	c.cmd("RCPT TO:<bee@lists.example.com>")
	c.cmd("NOOP")
	var lines []string
	for l := range strings.Lines(log.String()) {
		if strings.Contains(l, "msg=refused") {
			lines = append(lines, l)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	if l := lines[0]; !strings.Contains(l, `reply="550 5.1.1 no such list here"`) || strings.Contains(l, "trace=") || strings.Contains(l, "err=") {
		t.Errorf("%s", l)
	}
	if l := lines[1]; !strings.Contains(l, `reply="451 4.3.0 `) || !strings.Contains(l, "err=\"resolve bee@lists.example.com: ") {
		t.Errorf("%s", l)
	}
}
