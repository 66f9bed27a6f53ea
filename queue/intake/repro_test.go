package intake

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reproducers is where the messages of known bugs of other list managers lie, beside
// the repository.
const reproducers = "../../../shared/repro"

// dotStuff makes a message fit for DATA (RFC 5321 §4.5.2).
func dotStuff(raw []byte) string {
	s := strings.ReplaceAll("\r\n"+string(raw), "\r\n.", "\r\n..")[2:]
	return s + ".\r\n"
}

// TestReproducers sends each of them over LMTP and through the pipe: all are taken,
// octet for octet. Those that are odd on the wire are sent as they are.
func TestReproducers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(reproducers, "*.eml"))
	if err != nil || len(files) == 0 {
		t.Skipf("no messages in %s", reproducers)
	}
	s := newShare()
	in := newIntake(t, s, Limits{})
	c := newClient(t, dial(t, in, "lmtp", "unix"), "lmtp")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(filepath.Base(file), "015-") {
			raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
		}
		c.begin("ant@lists.example.com", "bee@lists.example.com", "ant@lists.example.com")
		c.write(dotStuff(raw))
		for range 3 {
			c.want("250 2.0.0")
		}
		got := s.take()
		if len(got) != 2 || !bytes.Equal(got[0].Raw, raw) || !bytes.Equal(got[1].Raw, raw) {
			t.Errorf("%s: %d entries, or other octets", file, len(got))
		}
		err = in.Deliver(context.Background(), DeliverArgs{Words: []string{"post", "ant"}}, bytes.NewReader(raw))
		if got := s.take(); err != nil || len(got) != 1 || !bytes.Equal(got[0].Raw, raw) {
			t.Errorf("%s: piped: %d entries, or other octets, %v", file, len(got), err)
		}
	}
}
