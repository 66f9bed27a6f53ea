package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeRoster: 100,000 members go in and come out as they are, and one more costs
// less than 4 KB on the share.
func TestLargeRoster(t *testing.T) {
	t.Parallel()
	const list, members = "ant@lists.example.com", 100_000
	h := newHost(t, "a")
	h.list(list, 0)
	var lines strings.Builder
	for i := range members {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&lines, "u%06d@d%d.example\n", i, i%7)
		case 1:
			fmt.Fprintf(&lines, "\"Member, no. %d\" <u%06d@d%d.example>\n", i, i, i%7)
		default:
			fmt.Fprintf(&lines, "\"Zoë %d\" <U%06d+x@d%d.example>\n", i, i, i%7)
		}
	}
	r := h.run(lines.String(), "member", "import", list)
	if r.code != 0 || r.out != "100000 added, 0 known already, 0 refused\n" || r.err != "" {
		t.Fatalf("import: %v", r)
	}
	if r := h.run(lines.String(), "member", "import", list, "-"); r.out != "0 added, 100000 known already, 0 refused\n" {
		t.Errorf("import again: %v", r)
	}
	exported := h.must("member", "export", list)
	same(t, lines.String(), exported)
	if n := strings.Count(h.must("member", "ls", list), "\n"); n != members+1 {
		t.Errorf("member ls has %d lines", n)
	}
	var rows []map[string]any
	if h.query(&rows, "member", "ls", list); len(rows) != members {
		t.Errorf("member ls --json has %d rows", len(rows))
	}
	before := h.sizes()
	h.must("member", "add", list, "one.more@d1.example")
	written := int64(0)
	for name, size := range h.sizes() {
		if old, ok := before[name]; !ok {
			written += size
		} else if old != size {
			t.Errorf("%s was rewritten", name)
		}
	}
	t.Logf("one subscribe wrote %d octets", written)
	if written == 0 || written > 4096 {
		t.Errorf("one subscribe wrote %d octets, want less than 4096", written)
	}
	// What was exported makes the same roster elsewhere.
	h.list("bee@lists.example.com", 0)
	if r := h.run(exported, "member", "import", "bee@lists.example.com"); r.code != 0 {
		t.Fatalf("import: %v", r)
	}
	same(t, exported, h.must("member", "export", "bee@lists.example.com"))
}

// sizes are the files of the share with their sizes.
func (h *host) sizes() map[string]int64 {
	h.t.Helper()
	out := map[string]int64{}
	for _, f := range h.files("") {
		info, err := os.Stat(filepath.Join(h.conf.Var, f))
		if err != nil {
			h.t.Fatal(err)
		}
		out[f] = info.Size()
	}
	return out
}

// same compares two texts line by line, in any order.
func same(t *testing.T, want, got string) {
	t.Helper()
	n := map[string]int{}
	for line := range strings.Lines(want) {
		n[line]++
	}
	for line := range strings.Lines(got) {
		n[line]--
	}
	shown := 0
	for line, d := range n {
		if d != 0 && shown < 10 {
			t.Errorf("%q: %+d", line, -d)
			shown++
		}
	}
}
