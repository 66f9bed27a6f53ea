package stage

import (
	"context"
	"strings"
	"testing"

	"qrunner/lists/commands"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// What moderators may answer stands in every language's texts, under its English name.
func TestDecisionsInEveryLanguage(t *testing.T) {
	for _, lang := range templates.Languages {
		for _, name := range []templates.Name{templates.AdminActionPost, templates.AdminPending} {
			text, _ := templates.Builtin(name, lang)
			for _, c := range commands.Moderation {
				if !strings.Contains(text, "\n    "+c.Name+" ") && !strings.Contains(text, "\n    "+c.Name+": ") {
					t.Errorf("%s: %s does not offer %q", lang, name, c.Name)
				}
			}
		}
	}
}

// Moderators read the list's language, in the notice and in the summary; the token and
// the marker are there whatever the text says.
func TestModeratorsLanguage(t *testing.T) {
	w := newWorld(t, liststest.Ant, "emergency", "yes", "admin_immed_notify", "yes", "preferred_language", "de")
	n := notices(w.process(w.entry("anne@example.org", hello)))[""]
	if n == nil {
		t.Fatal("no notice")
	}
	m, token := message.Parse(n.Raw), commands.Token(w.state.Held()[0])
	if s := message.DecodeHeader(m.Get("Subject")); !strings.HasPrefix(s, "confirm "+token+": ") || !strings.Contains(s, "Beitrag") {
		t.Errorf("subject %q", s)
	}
	if body := string(m.Body()); !strings.Contains(body, commands.Marker+"\r\n\r\nÜber einen Beitrag") || !strings.Contains(body, "accept always") {
		t.Errorf("%s", body)
	}
	o := w.due(w.conf, liststest.Day().Add(day))
	if n = notices(o)[""]; n == nil || !strings.Contains(string(n.Raw), "Anfragen an ant@lists.example.com ist noch zu entscheiden") || !strings.Contains(string(n.Raw), token) {
		t.Errorf("%s", n.Raw)
	}
}

// A site's own text takes the place of what is built in, for a post that is held and then
// rejected by a person, in the poster's language.
func TestRejectionByHandUsesTemplates(t *testing.T) {
	w := newWorld(t, liststest.Ant, "emergency", "yes")
	bart := *w.member("anne@example.org")
	bart.Prefs = map[string]string{"preferred_language": "nl"}
	w.commit(&queue.Outcome{Changes: set(bart)})
	w.process(w.entry("anne@example.org", hello))
	p := w.state.Held()[0]
	e, err := LoadHeld(context.Background(), w.fs, w.id, p)
	if err != nil {
		t.Fatal(err)
	}
	for want, own := range map[string]string{"is niet verspreid": "", "ons eigen: te luid": "Subject: nee\n\nons eigen: {{.reasons}}\n"} {
		if own != "" {
			if err := WriteTemplate(w.fs, templates.File(templates.SiteScope, "nl", templates.UserRejected), own); err != nil {
				t.Fatal(err)
			}
		}
		o, err := w.conf.RejectHeld(t.Context(), w.state.List(), e, p, Decision{By: "mona", Why: "te luid"})
		if err != nil {
			t.Fatal(err)
		}
		n := notices(o)["anne@example.org"]
		if n == nil || !strings.Contains(string(n.Raw), want) && own != "" || !strings.Contains(string(n.Raw), "te luid") {
			t.Errorf("%q: %s", want, n.Raw)
		}
	}
}
