package e2e

import (
	"strings"
	"testing"
)

// TestDeleteWithMail: a list with mail on its way is not deleted; with --discard its
// mail is parked. What comes later for it is refused, what was queued behind its back
// is parked.
func TestDeleteWithMail(t *testing.T) {
	const list = "ant@lists.example.com"
	h := newHost(t, "a")
	h.list(list, 1)
	for _, id := range ids("queued", 2) {
		if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
			t.Fatal(r)
		}
	}
	if r := h.run("", "list", "delete", list); r.code != 64 || !strings.Contains(r.err, "--yes") {
		t.Errorf("without --yes: %v", r)
	}
	if r := h.run("", "list", "delete", "--yes", list); r.code == 0 || !strings.Contains(r.err, "2 messages queued") {
		t.Errorf("with mail queued: %v", r)
	}
	h.must("list", "show", list)
	if out := h.must("list", "delete", "--yes", "--discard", list); !strings.Contains(out, "2 messages went to shunt") {
		t.Errorf("with --discard: %s", out)
	}
	if n := len(h.files("queue/shunt")); n != 2 {
		t.Errorf("%d entries in shunt, want 2", n)
	}
	if r := h.run(message(poster, list, "late@posts.example"), "deliver", "-f", poster, list); r.code != 67 {
		t.Errorf("post to a deleted list: %v, want 67", r)
	}
	// Made again it is another list, and the old mail can be let go to it.
	h.list(list, 1)
	if out := h.must("shunt", "replay", "--all", list); !strings.Contains(out, "2 replayed") {
		t.Errorf("replay: %s", out)
	}
	if n := len(h.files("queue/in")); n != 2 {
		t.Errorf("%d entries in queue in, want 2", n)
	}
}
