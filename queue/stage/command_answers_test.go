package stage

import (
	"fmt"
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// Who asks about somebody else hears the same whether that is a member, banned or neither.
func TestNobodyElseLearns(t *testing.T) {
	w := newWorld(t, liststest.Ant, "ban_list", "spy@bad.example")
	said := map[string]bool{}
	for _, a := range []string{"anne@example.org", "spy@bad.example", "new@example.net"} {
		o := w.process(w.says("zed@example.net", lists.SubRequest, "", "join address="+a, ""))
		said[strings.ReplaceAll(string(message.Parse(notices(o)["zed@example.net"].Raw).Body()), a, "X")] = true
	}
	if len(said) != 1 {
		t.Errorf("%d different answers: %v", len(said), said)
	}
	for a, want := range map[string]string{
		"anne@example.org": "is a member", "spy@bad.example": "is banned", "ant@lists.example.com": "", "ant-request@lists.example.com": "",
	} {
		o := w.process(w.says(mailaddr.Address(a), lists.SubJoin, "", "", ""))
		if o.Event == "pending" || len(w.state.Pendings()) != 1 || want != "" && !strings.Contains(string(notices(o)[mailaddr.Address(a)].Raw), want) {
			t.Errorf("%s: %+v", a, o)
		}
	}
}

// Of several options that are wrong each is said, what else is asked is answered, and
// nothing is changed. An address is written as it is.
func TestWrongOptions(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	o := w.process(w.says("anne@example.org", lists.SubRequest, "", "", "set hide maybe\nset show\nset colour red\nset ack on\n"))
	text := string(message.Parse(notices(o)["anne@example.org"].Raw).Body())
	for _, want := range []string{"set hide maybe: hide is one of: ", "set colour red: there is no option", "None of the options was changed.", "Set for anne@example.org:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(w.state.Pendings()) != 0 {
		t.Errorf("%+v", w.state.Pendings())
	}
	o = w.process(w.says("yan@example.net", lists.SubRequest, "", "", "set show\nset ack\n"))
	if text := string(notices(o)["yan@example.net"].Raw); !strings.Contains(text, "yan@example.net is not a member.") || strings.Contains(text, "Yan@") || !strings.Contains(text, "set ack: it takes") {
		t.Errorf("%s", text)
	}
}

// Commands however mail programs and people put them (reproducers 005, 052).
func TestCommandDecoding052(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	for name, want := range map[string]string{
		"052-command-decoding.eml":      "pending",
		"052-command-decoding.html.eml": "answered",
		"005-nul-byte.eml":              "",
	} {
		e := w.mail(lists.SubRequest, "", repro(t, name))
		e.Sender = "zed@example.net"
		o := w.process(e)
		if want != "" && o.Event != want || o.Fate != queue.FateDone || bytesHasNUL(o) {
			t.Errorf("%s: %+v", name, o)
		}
		if name == "052-command-decoding.eml" {
			text := ""
			for _, c := range o.Children {
				text += string(c.Entry.Raw)
			}
			if len(w.state.Pendings()) != 1 || !strings.Contains(text, "> help.") || !strings.Contains(text, "now") || strings.Contains(text, "\r\n> leave") {
				t.Errorf("%s:\n%s", name, text)
			}
		}
	}
	o := w.process(w.says("zed@example.net", lists.SubRequest, "", strings.Repeat("join ", 200000), ""))
	if o.Event != "refused" || len(o.Children) != 1 || len(o.Children[0].Entry.Raw) > 10000 {
		t.Errorf("a subject of 1 MB: %s", o.Event)
	}
	o = w.process(w.says("zed@example.net", lists.SubRequest, "", "=?utf-8?Q?echo_a=0D=0ABcc:_x@y.org?=", "echo b\x0bc"))
	m := message.Parse(o.Children[0].Entry.Raw)
	if m.Has("Bcc") || strings.Contains(string(m.Body()), "\nBcc") || strings.Contains(string(m.Body()), "\x0b") {
		t.Errorf("%q", o.Children[0].Entry.Raw)
	}
}

func bytesHasNUL(o *queue.Outcome) bool {
	for _, c := range o.Children {
		if strings.Contains(string(c.Entry.Raw), "\x00") {
			return true
		}
	}
	return false
}

// All results come in one answer, and not more often than the list allows.
func TestOneAnswer(t *testing.T) {
	w := newWorld(t, liststest.Ant, "max_autoresponses_per_day", "2", "info", "About ants.", "description", "Ants")
	text := "help\n\ninfo\nlists\nwho\nend\necho no more\n"
	for i := range 4 {
		o := w.process(w.says("zed@example.net", lists.SubRequest, "", "echo hello", text))
		if got := len(o.Children); got != 1 && i < 2 || got != 0 && i >= 2 {
			t.Fatalf("%d: %d answers", i, got)
		}
		if i > 0 {
			continue
		}
		body := string(o.Children[0].Entry.Raw)
		for _, want := range []string{"> echo hello\r\necho hello", "> help\r\n", "About ants.", "ant@lists.example.com  Ants", "Only owners and moderators may see"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in:\n%s", want, body)
			}
		}
		if strings.Contains(body, "no more") || o.Children[0].Entry.Sender != "" || get(o.Children[0].Entry.Raw, "Auto-Submitted") != "auto-replied" {
			t.Errorf("%s", body)
		}
	}
}

// Spam in somebody's name, to addresses that robots have found, makes few answers.
func TestNoBackscatter(t *testing.T) {
	w := newWorld(t, liststest.Ant)
	answers := 0
	for i := range 200 {
		a := mailaddr.Address(fmt.Sprintf("v%d@example.net", i))
		answers += len(w.process(w.says(a, lists.SubRequest, "", "Buy now", "This is\nfor you\nand you\nhelp\n")).Children)
	}
	if answers != mostExplained {
		t.Errorf("%d answers", answers)
	}
	e := w.says("v@example.net", lists.SubRequest, "", "Buy now", "")
	e.Sender = "else@example.net"
	spam := w.says("v@example.net", lists.SubJoin, "", "join", "")
	spam.Raw = []byte("X-Spam-Flag: YES\r\n" + string(spam.Raw))
	for _, e := range []*queue.Entry{e, spam} {
		if o := w.process(e); len(o.Children) != 0 {
			t.Errorf("%+v", o)
		}
	}
}

func TestWho(t *testing.T) {
	for visible, may := range map[string]string{"public": "zed anne mona", "members": "anne mona", "moderators": "mona"} {
		w := newWorld(t, liststest.Ant, "member_roster_visibility", visible)
		bart, _ := w.state.List().Roster.Find(lists.RoleMember, "bart@example.org")
		seen := *bart
		seen.Prefs = map[string]string{"hide_address": "no"}
		w.commit(&queue.Outcome{Changes: []store.Change{store.SetMember{Member: seen}}})
		for _, who := range []string{"zed", "anne", "mona"} {
			a := mailaddr.Address(who + "@example.org")
			o := w.process(w.says(a, lists.SubRequest, "", "who", ""))
			n := notices(o)[a]
			if got := n != nil && strings.Contains(string(n.Raw), "    bart@example.org"); got != strings.Contains(may, who) {
				t.Errorf("%s: %s: %v\n%s", visible, who, got, n.Raw)
			}
			if n != nil && who != "mona" && strings.Contains(string(n.Raw), "    anne@example.org") {
				t.Errorf("%s: who hides is shown to %s", visible, who)
			}
		}
	}
}
