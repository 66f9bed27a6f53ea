package stage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// digestPost is a post of anne's.
func digestPost(n int) string {
	return fmt.Sprintf("From: anne@example.org\r\nTo: ant@lists.example.com\r\nSubject: post %d\r\nMessage-ID: <%d@example.org>\r\n\r\nbody %d\r\n", n, n, n)
}

// change carries changes out as a command would.
func (w *world) change(cs ...store.Change) {
	w.t.Helper()
	w.commit(&queue.Outcome{Changes: cs})
}

// add puts somebody on the list.
func (w *world) add(address string, mode lists.DeliveryMode, status lists.DeliveryStatus) {
	w.change(store.AddMember{Member: lists.Member{Address: mailaddr.Address(address), Role: lists.RoleMember, Mode: mode, Status: status}})
}

func fanouts(o *queue.Outcome) (out []*queue.Fanout) {
	for _, c := range o.Children {
		if c.Fanout != nil {
			out = append(out, c.Fanout)
		}
	}
	return out
}

func TestDigestIsSentWhenFull(t *testing.T) {
	w := newWorld(t, liststest.Ant, "digest_size_threshold", "3", "footer", "the footer\n", "subject_prefix", "[Ant %d]")
	w.add("pia@example.org", lists.ModePlainDigests, "")
	w.add("off@example.org", lists.ModePlainDigests, lists.StatusByBounces)
	var due *queue.Entry
	posts := 0
	for n := 1; due == nil; n++ {
		o := w.process(w.entry("anne@example.org", digestPost(n)))
		if to(sent(o)) != "anne bart dora emil+tag" || len(w.state.Digest().Posts) != n {
			t.Fatalf("%+v", o)
		}
		due, posts = child(o, queue.Digest), n
	}
	if d := w.state.Digest(); d.Size < 3<<10 || d.Size > 4<<10 || posts < 2 {
		t.Errorf("%d posts of %d octets", posts, d.Size)
	}
	if o := w.process(w.entry("anne@example.org", digestPost(posts+1))); child(o, queue.Digest) != nil {
		t.Error("the same digest is due twice")
	}
	due.ID, due.Received = "x", liststest.Day()
	o := w.process(due)
	out := fanouts(o)
	if o.Event != "digest" || len(out) != 2 || to(out[0]) != "pia" || to(out[1]) != "cris" {
		t.Fatalf("%+v", o)
	}
	for _, f := range out {
		m := message.Parse(f.Raw)
		if m.Get("Subject") != "Ant Digest, Vol 1, Issue 1" || m.Get("List-Id") != "<ant.lists.example.com>" || m.Get("X-BeenThere") != "ant@lists.example.com" ||
			m.Get("Precedence") != "list" || f.Bounces != "ant-bounces@lists.example.com" || !f.Bulk || f.PostID != 0 || !f.VERP {
			t.Errorf("%+v\n%s", f, f.Raw)
		}
		for n := 1; n <= posts+1; n++ {
			if strings.Count(string(f.Raw), fmt.Sprintf("\r\n\r\nbody %d\r\n", n)) != 1 || strings.Count(string(f.Raw), fmt.Sprintf("[Ant %d] post %d\r\n", n, n)) != 1 {
				t.Errorf("post %d:\n%s", n, f.Raw)
			}
		}
		if strings.Contains(string(f.Raw), "the footer") || !strings.Contains(string(f.Raw), "To leave, write to ant-leave@lists.example.com") {
			t.Errorf("footer:\n%s", f.Raw)
		}
	}
	if d := w.state.Digest(); len(d.Posts) != 0 || d.Volume != 1 || d.Issue != 1 || !d.SentAt.Equal(liststest.Day()) {
		t.Errorf("%+v", d)
	}
	if o := w.process(due); o.Event != "empty" || len(o.Children)+len(o.Changes) != 0 {
		t.Errorf("a second time: %+v", o)
	}
}

func TestDigestOff(t *testing.T) {
	for _, settings := range [][]string{{"digests_enabled", "no"}, {}} {
		w := newWorld(t, liststest.Ant, settings...)
		if len(settings) == 0 {
			w.change(store.DelMember{Role: lists.RoleMember, Address: "cris@example.com"})
		}
		o := w.process(w.entry("anne@example.org", digestPost(1)))
		if len(w.state.Digest().Posts) != 0 || o.Event != "accepted" {
			t.Errorf("%v: %+v", settings, o)
		}
	}
}

func TestDigestWhenItsTimeComes(t *testing.T) {
	w := newWorld(t, liststest.Ant, "digest_send_at", "09:00", "admin_notify_pending", "no")
	if o := w.due(w.conf, liststest.Day().Add(48*time.Hour)); o != nil {
		t.Errorf("nothing waits: %+v", o)
	}
	w.process(w.entry("anne@example.org", digestPost(1))) // at 10:00
	at := liststest.Day().Add(22 * time.Hour)
	if o := w.due(w.conf, at); o != nil {
		t.Errorf("too early: %+v", o)
	}
	at = at.Add(61 * time.Minute)
	o := w.due(w.conf, at)
	if o == nil || child(o, queue.Digest) == nil {
		t.Fatalf("%+v", o)
	}
	w.commit(o)
	if o := w.due(w.conf, at.Add(time.Hour)); o != nil {
		t.Errorf("twice: %+v", o)
	}
	if o := w.due(w.conf, at.Add(13*time.Hour)); o == nil {
		t.Error("a digest that could not be made is tried again")
	}
	e := child(o, queue.Digest)
	e.ID, e.Received = "x", at
	if o := w.process(e); len(fanouts(o)) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestOneLastDigest(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	w.add("pia@example.org", lists.ModePlainDigests, "")
	w.add("rolf@example.org", lists.ModePlainDigests, "")
	w.process(w.entry("anne@example.org", digestPost(1)))
	set := func(role lists.Role, address string, mode lists.DeliveryMode) {
		m, ok := w.state.List().Roster.Find(role, mailaddr.Address(address))
		if !ok {
			t.Fatal(address)
		}
		c := *m
		c.Mode = mode
		w.change(store.SetMember{Member: c})
	}
	set(lists.RoleMember, "pia@example.org", lists.ModeRegular)
	set(lists.RoleMember, "cris@example.com", lists.ModeRegular)
	set(lists.RoleMember, "rolf@example.org", "")
	w.change(store.DelMember{Role: lists.RoleMember, Address: "rolf@example.org"})
	o, err := w.conf.SendDigest(context.Background(), w.state, liststest.Day(), "t")
	if err != nil {
		t.Fatal(err)
	}
	w.commit(o)
	if out := fanouts(o); len(out) != 2 || to(out[0]) != "pia" || to(out[1]) != "cris" {
		t.Errorf("%+v", o)
	}
	if o := w.process(w.entry("anne@example.org", digestPost(2))); to(sent(o)) != "anne bart cris dora emil+tag pia" || len(w.state.Digest().Posts) != 0 {
		t.Errorf("%s, %+v", to(sent(o)), w.state.Digest())
	}
}

func TestDigestForNobody(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	w.process(w.entry("anne@example.org", digestPost(1)))
	w.change(store.SetDigest{Volume: 2, Issue: 7, SentAt: liststest.Day()}, store.DelMember{Role: lists.RoleMember, Address: "cris@example.com"})
	o, err := w.conf.SendDigest(context.Background(), w.state, liststest.Day(), "t")
	if err != nil || o.Event != "discarded" || len(o.Children) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	w.commit(o)
	if d := w.state.Digest(); len(d.Posts) != 0 || d.Volume != 2 || d.Issue != 7 {
		t.Errorf("%+v", d)
	}
}

// A post whose file is gone or changed does not keep the others up.
func TestDigestWithLostPosts(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	for n := 1; n <= 3; n++ {
		w.process(w.entry("anne@example.org", digestPost(n)))
	}
	file := func(n int) string {
		return filepath.Join(w.path(), "lists", string(w.id), "digest", w.state.Digest().Posts[n].ID)
	}
	if err := os.Remove(file(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(1), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := w.conf.SendDigest(context.Background(), w.state, liststest.Day(), "t")
	if err != nil || len(fanouts(o)) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	raw := fanouts(o)[0].Raw
	for _, s := range []string{"[Post 1 was lost", "[Post 2 was lost", "\r\n\r\nbody 3\r\n"} {
		if !bytes.Contains(raw, []byte(s)) {
			t.Errorf("no %q in\n%s", s, raw)
		}
	}
}

// The list's own masthead, one that is broken, and text that looks like a template
// (reproducer 053).
func TestDigestTemplates053(t *testing.T) {
	w := newWorld(t, liststest.Ant, "description", "{{.listname}} $x")
	w.process(w.entry("anne@example.org", strings.Replace(digestPost(1), "post 1", `{{.Secret}} ${list} {{template "x"}}`, 1)))
	write := func(text string) []byte {
		t.Helper()
		name := filepath.Join(w.path(), "templates", "lists", string(w.id), "en", "list:member:digest:masthead.txt")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := w.conf.SendDigest(context.Background(), w.state, liststest.Day(), "t")
		if err != nil {
			t.Fatal(err)
		}
		return fanouts(o)[0].Raw
	}
	raw := write("Ours: {{.description}}, volume {{.volume}}.{{issue}\n")
	if !bytes.Contains(raw, []byte("Posts go to             ant@lists.example.com")) {
		t.Errorf("a broken masthead:\n%s", raw)
	}
	raw = write("Ours: {{.description}}, volume {{.volume}}.\n")
	if !bytes.Contains(raw, []byte("Ours: {{.listname}} $x, volume 1.\r\n")) || !bytes.Contains(raw, []byte(`   1. {{.Secret}} ${list} {{template "x"}} (anne@example.org)`)) {
		t.Errorf("%s", raw)
	}
}

func (w *world) path() string { return w.fs.(interface{ Path() string }).Path() }
