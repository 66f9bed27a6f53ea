package stage

import (
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

func TestAcknowledge(t *testing.T) {
	w := newWorld(t, liststest.Ant, "display_name", "Ant")
	set := func(address, pref, value string) {
		m, ok := w.state.List().Roster.Find(lists.RoleMember, lists.ID(address).Posting())
		if !ok {
			t.Fatal(address)
		}
		c := *m
		c.Prefs = map[string]string{pref: value, "preferred_language": "de"}
		w.change(store.SetMember{Member: c})
	}
	set("anne@example.org", "acknowledge_posts", "yes")
	set("bart@example.org", "receive_own_postings", "no")
	o := w.process(w.entry("anne@example.org", digestPost(1)))
	n := child(o, queue.Virgin)
	if n == nil {
		t.Fatalf("%+v", o)
	}
	m := message.Parse(n.Raw)
	if message.DecodeHeader(m.Get("Subject")) != "Ant hat Ihren Beitrag" || m.Get("To") != "anne@example.org" || m.Get("In-Reply-To") != "<1@example.org>" ||
		!strings.Contains(string(m.Body()), "\r\n    post 1\r\n") || m.Get("Auto-Submitted") != "auto-replied" {
		t.Errorf("%s", n.Raw)
	}
	if o := w.process(w.entry("bart@example.org", strings.ReplaceAll(digestPost(2), "anne@", "bart@"))); child(o, queue.Virgin) != nil {
		t.Errorf("bart did not ask: %+v", o)
	}
	if o := w.process(w.entry("anne@example.org", "Precedence: bulk\r\n"+digestPost(3))); child(o, queue.Virgin) != nil {
		t.Errorf("a machine is answered: %+v", o)
	}
}
