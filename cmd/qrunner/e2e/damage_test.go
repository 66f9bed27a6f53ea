package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestDamagedEntries: entries that a crash, a full disk or a person left in a bad way
// go to bad/ with their content, a line of the log each; good ones are delivered.
func TestDamagedEntries(t *testing.T) {
	const list = "ant@lists.example.com"
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, 2)
	want := ids("good", 2)
	var entries []string
	for _, id := range append(want, ids("victim", 5)...) {
		if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
			t.Fatal(r)
		}
		for _, f := range h.files("queue/in/" + list) {
			if len(entries) == 0 || f > entries[len(entries)-1] {
				entries = append(entries, f)
			}
		}
	}
	if len(entries) != 7 {
		t.Fatalf("entries: %v", entries)
	}
	broken := map[string][]byte{}
	for i, spoil := range []func([]byte) []byte{
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return b[:10] },
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { b[len(b)*2/3] ^= 4; return b },
		func(b []byte) []byte { return []byte(strings.Repeat("\x93garbage\x00\n", 400)) },
	} {
		name := filepath.Join(h.conf.Var, entries[2+i])
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := spoil(text)
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		broken[string(bad)] = bad
	}
	broken["litter"] = []byte("litter")
	for _, name := range []string{"A.tmp.123", ".nfs0000000000000001"} {
		if err := os.WriteFile(filepath.Join(h.conf.Var, "queue/in", list, name), []byte("litter"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := h.start()
	if err := sink.Wait(patient(t), 4); err != nil {
		t.Fatal(err)
	}
	until(t, "the damaged entries in bad", func() bool { return len(h.files("queue/bad")) == len(broken) })
	count(sink).once(t, want, memberNames(2))
	for _, f := range h.files("queue/bad") {
		text, err := os.ReadFile(filepath.Join(h.conf.Var, f))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := broken[string(text)]; !ok {
			t.Errorf("%s is none of the broken files", f)
		}
		delete(broken, string(text))
	}
	logged := map[string]bool{}
	for _, l := range d.logged("not readable as an entry, goes to bad") {
		logged[l.text("entry")] = true
	}
	for _, e := range entries[2:] {
		if !logged[filepath.Base(e)] {
			t.Errorf("%s is not in the log", e)
		}
	}
	c := d.lmtp()
	c.post(poster, message(poster, list, "after@posts.example"), list)
	if err := sink.Wait(patient(t), 6); err != nil {
		t.Fatal(err)
	}
	d.stop()
}
