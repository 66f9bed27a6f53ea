package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue"
	"qrunner/queue/queuetest"
)

// finding is a line of queue verify and list verify.
type finding struct {
	List, File, Kind, Text, Remedy, Backup string
	Repaired                               bool
}

// verify runs the command and returns what it found, and its status.
func (h *host) verify(args ...string) (found []finding, code int) {
	h.t.Helper()
	r := h.run("", append([]string{"--json"}, args...)...)
	if r.code != 0 && r.code != 1 {
		h.t.Fatalf("%v: %v", args, r)
	}
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		h.t.Fatalf("%v: %v in %q", args, err, r.out)
	}
	if (len(found) > 0) != (r.code == 1) && !slices.Contains(args, "--repair") {
		h.t.Errorf("%d findings, status %d", len(found), r.code)
	}
	return found, r.code
}

// variety is a share with something in every queue and a file of every kind.
func variety(t *testing.T) *host {
	deferring := queuetest.SinkConfig{Script: queuetest.Rules(
		queuetest.Rule{Phase: queue.PhaseRcpt, Action: queuetest.Action{Reply: "451 4.2.1 later"}})}
	_, addr := newSink(t, deferring)
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list("ant@lists.example.com", 3)
	h.list("held@lists.example.com", 2, "default_member_action=hold")
	h.list("digest@lists.example.com", 2)
	h.must("member", "set", "digest@lists.example.com", "m0001@members.example", "--mode", "plaintext_digests")
	h.list("gone@lists.example.com", 1)
	post := func(list, id string) {
		if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
			t.Fatal(r)
		}
	}
	for _, l := range []string{"ant", "held", "digest"} {
		post(l+"@lists.example.com", "first."+l)
	}
	d := h.start()
	until(t, "posts in retry, held and digest", func() bool {
		return len(h.files("queue/retry")) >= 6 && len(h.files("lists/held@lists.example.com/held")) == 1 && len(h.files("lists/digest@lists.example.com/digest")) == 1
	})
	d.stop()
	post("gone@lists.example.com", "gone")
	h.must("list", "delete", "--yes", "--discard", "gone@lists.example.com")
	for _, l := range []string{"ant", "held"} {
		post(l+"@lists.example.com", "second."+l)
	}
	return h
}

// TestVerifyNamesEveryDamagedFile: one bit of each file that matters is flipped, one after
// the other, and each time verify names that file and changes nothing.
func TestVerifyNamesEveryDamagedFile(t *testing.T) {
	h := variety(t)
	for _, args := range [][]string{{"queue", "verify"}, {"list", "verify"}} {
		if found, _ := h.verify(args...); len(found) > 0 {
			t.Errorf("a sound share, %v: %v", args, found)
		}
	}
	kinds := map[string]int{}
	for _, name := range append(h.files("queue"), h.files("lists")...) {
		part := strings.Split(name, "/")
		if slices.Contains([]string{"tmp", "done", "local"}, part[1]) || strings.HasPrefix(part[1], "gone@") || part[2] == "archive" {
			continue
		}
		kind := part[0] + "/" + part[1]
		if part[0] == "lists" {
			kind = part[0] + "/" + part[min(2, len(part)-2)]
			if len(part[2]) == 16 {
				kind = part[0] + "/" + part[3]
			}
		}
		if kinds[kind]++; kinds[kind] > 2 {
			continue
		}
		file := filepath.Join(h.conf.Var, name)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(whole)
		bad[len(bad)/2] ^= 1
		rewrite(t, file, bad)
		found, _ := h.verify(strings.TrimSuffix(part[0], "s"), "verify")
		if !slices.ContainsFunc(found, func(f finding) bool { return f.File == name && f.Kind == "damaged" }) {
			t.Errorf("%s: found %v", name, found)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, bad) {
			t.Errorf("%s was changed: %v", name, err)
		}
		rewrite(t, file, whole)
	}
	for _, k := range []string{"queue/in", "queue/retry", "queue/shunt", "lists/log", "lists/held", "lists/digest"} {
		if kinds[k] == 0 {
			t.Errorf("nothing of %s among %v", k, kinds)
		}
	}
}

func rewrite(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyRepairs: with --repair what can be mended is, after a copy; what cannot is
// named again, and everything else is as it was.
func TestVerifyRepairs(t *testing.T) {
	h := variety(t)
	share := func(name string) string { return filepath.Join(h.conf.Var, name) }
	old := time.Now().Add(-48 * time.Hour)
	litter := []string{
		"lists/held@lists.example.com/held/stranger",
		"queue/stage/ant@lists.example.com/0123456789abcdef.1.1/x", "queue/tmp/b.0123456789abcdef",
	}
	for _, name := range litter {
		if err := os.MkdirAll(filepath.Dir(share(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		rewrite(t, share(name), []byte("litter"))
		for _, p := range []string{name, filepath.Dir(name)} {
			if strings.HasPrefix(p, "queue/") && p != "queue/tmp" {
				if err := os.Chtimes(share(p), old, old); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	torn := h.files("queue/in/ant@lists.example.com")[0]
	rewrite(t, share(torn), []byte("torn"))
	lost := h.files("lists/held@lists.example.com/held")
	lost = slices.DeleteFunc(lost, func(n string) bool { return strings.HasSuffix(n, "/stranger") })
	if err := os.Remove(share(lost[0])); err != nil {
		t.Fatal(err)
	}
	record := h.files("lists/gone@lists.example.com")
	for _, c := range []string{"queue", "list"} {
		before, _ := h.verify(c, "verify")
		again, _ := h.verify(c, "verify")
		if len(before) < 2 || len(again) != len(before) {
			t.Errorf("%s verify found %v, then %v", c, before, again)
		}
		found, code := h.verify(c, "verify", "--repair")
		if code != 0 || len(found) != len(before) {
			t.Errorf("%s verify --repair: status %d, %v", c, code, found)
		}
		for _, f := range found {
			if f.Kind != "missing" && !strings.HasPrefix(f.Backup, "backup/") {
				t.Errorf("no copy of %+v", f)
			}
			if f.Backup != "" && len(h.files(f.Backup)) == 0 {
				t.Errorf("no copy at %s", f.Backup)
			}
		}
		if left, _ := h.verify(c, "verify"); len(left) > 0 {
			t.Errorf("after the repair: %v", left)
		}
	}
	if n := len(h.files("queue/bad/ant@lists.example.com")); n != 1 {
		t.Errorf("%d files in bad", n)
	}
	if got := h.files("lists/gone@lists.example.com"); !slices.Equal(got, record) {
		t.Errorf("a list that has nothing to do with it: %v, was %v", got, record)
	}
	if out := h.must("list", "log", "held@lists.example.com"); !strings.Contains(out, "verify --repair") {
		t.Errorf("the log says nothing of the repair:\n%s", out)
	}
}
