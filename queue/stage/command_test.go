package stage

import (
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

const zedPost = "From: Zed <zed@example.net>\r\nTo: ant@lists.example.com\r\nSubject: hi\r\nMessage-ID: <1@example.org>\r\n\r\nhello\r\n"

// heldWorld is a list with one held post and the notice that its moderators got.
func heldWorld(t *testing.T, raw string, settings ...string) (w *world, post store.HeldPost, note *message.Message) {
	t.Helper()
	w = newWorld(t, liststest.Ant, append([]string{"admin_immed_notify", "yes"}, settings...)...)
	o := w.process(w.entry("zed@example.net", raw))
	if o.Event != "held" || notices(o)[""] == nil {
		t.Fatalf("%+v", o)
	}
	return w, w.state.Held()[0], message.Parse(notices(o)[""].Raw)
}

// mail is an answer of Mona's to a service address.
func (w *world) mail(sub lists.SubAddress, extra, raw string) *queue.Entry {
	e := w.entry("mona@example.org", strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n"))
	e.Queue = queue.Command
	e.Target = lists.Target{List: w.id, Sub: sub, Extra: extra}
	return e
}

func monas(body string) string {
	return "From: Mona <mona@example.org>\nTo: x\nSubject: Re: confirm\nMessage-ID: <m@example.org>\n\n" + body
}

func TestModerationVerbs(t *testing.T) {
	member := strings.ReplaceAll(zedPost, "zed@example.net", "anne@example.org")
	for _, tc := range []struct {
		verb  string
		raw   string
		event string // of the post: released, rejected, discarded
		check func(*store.State) bool
	}{
		{"accept", zedPost, "pipeline", nil},
		{"Accept.", zedPost, "pipeline", nil},
		{"*discard*", zedPost, "", nil},
		{"reject", zedPost, "virgin", nil},
		{"reject: off topic", zedPost, "virgin", nil},
		{"accept  always", zedPost, "pipeline", actionOf(lists.RoleNonmember, "zed@example.net", lists.ActionAccept)},
		{"discard always", zedPost, "", actionOf(lists.RoleNonmember, "zed@example.net", lists.ActionDiscard)},
		{"accept always", member, "pipeline", actionOf(lists.RoleMember, "anne@example.org", lists.ActionAccept)},
		{"unmoderate", member, "pipeline", actionOf(lists.RoleMember, "anne@example.org", lists.ActionDefer)},
		{"ban", zedPost, "", func(st *store.State) bool {
			return st.List().Settings.Text("ban_list") == "x@y.org\nzed@example.net"
		}},
	} {
		t.Run(tc.verb, func(t *testing.T) {
			w, post, _ := heldWorld(t, tc.raw, "ban_list", "x@y.org", "default_member_action", "hold")
			o := w.process(w.mail(lists.SubConfirm, commands.Token(post), monas(tc.verb+"\n")))
			if o.Event != "moderated" || len(w.state.Held()) != 0 || !strings.Contains(o.Reason, "mona@example.org, by mail") {
				t.Fatalf("%+v", o)
			}
			got := ""
			for _, c := range o.Children {
				got += string(c.Entry.Queue)
			}
			if got != tc.event || tc.check != nil && !tc.check(w.state) {
				t.Errorf("children %q, want %q; changes %+v", got, tc.event, o.Changes)
			}
			if tc.verb == "reject: off topic" && !strings.Contains(string(o.Children[0].Entry.Raw), "off topic") {
				t.Errorf("no reason:\n%s", o.Children[0].Entry.Raw)
			}
		})
	}
}

func actionOf(role lists.Role, a mailaddr.Address, want lists.Action) func(*store.State) bool {
	return func(st *store.State) bool {
		m, ok := st.List().Roster.Find(role, a)
		return ok && m.Action == want
	}
}

// An answer is found however mail programs put it.
func TestAnswersAreFound(t *testing.T) {
	_, _, note := heldWorld(t, zedPost)
	root, err := note.Structure()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(root.Parts[0].Decode(note.Body())), "\r\n", "\n")
	quote := "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ") + "\n"
	html := func(s string) string {
		return "From: mona@example.org\nContent-Type: text/html; charset=utf-8\n\n<html><body>" + s + "</body></html>"
	}
	for name, tc := range map[string]struct {
		raw  string
		want string // event: command
	}{
		"top":                {monas("discard\n\nMona\n\nOn Monday, ant wrote:\n" + quote), "moderated: discard"},
		"bottom":             {monas(quote + "\ndiscard\n"), "moderated: discard"},
		"between":            {monas("> A post waits\n\ndiscard\n\n> accept\n"), "moderated: discard"},
		"Outlook":            {monas("discard\n\n________________________________\nFrom: ant\n" + text + "\naccept\n"), "moderated: discard"},
		"not quoted at all":  {monas("discard\n\n" + text + "\naccept\n"), "moderated: discard"},
		"signature":          {monas("discard\n-- \naccept\n"), "moderated: discard"},
		"HTML only":          {html("<div>discard</div><br><blockquote>accept</blockquote>"), "moderated: discard"},
		"HTML, markup":       {html("<p><b>dis</b>card</p>"), "moderated: discard"},
		"base64":             {"From: mona@example.org\nContent-Transfer-Encoding: base64\n\nZGlzY2FyZA==\n", "moderated: discard"},
		"subject":            {"From: mona@example.org\nSubject: =?utf-8?q?DISCARD?=\n\n", "moderated: discard"},
		"subject and text":   {"From: mona@example.org\nSubject: discard\n\ndiscard\n", "moderated: discard"},
		"NUL":                {monas("dis\x00card\n"), "moderated: discard"},
		"wrapped reason":     {monas("reject: this is off topic, and\nmuch too long\n\nMona\n"), "moderated: reject"},
		"quoted only":        {monas("> accept\n"), "refused: No command"},
		"nothing":            {monas(""), "refused: No command"},
		"a sentence":         {monas("I think we should accept it.\n"), "refused: No command"},
		"a word and more":    {monas("accept it\n"), "refused: No command"},
		"two verbs":          {monas("accept\ndiscard\n"), "refused: There are two different"},
		"subject against":    {"From: mona@example.org\nSubject: accept\n\ndiscard\n", "refused: There are two different"},
		"accept and always":  {monas("accept\naccept always\n"), "refused: There are two different"},
		"another post":       {monas("discard aaaaaaaaaa\n"), "refused: No post aaaaaaaaaa"},
		"not for a stranger": {monas("unmoderate\n"), "refused: The command \"unmoderate\""},
		"vacation":           {"Auto-Submitted: auto-replied\n" + monas("accept\n"), "ignored"},
		"bulk":               {"Precedence: Junk\n" + monas("accept\n"), "ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			w, post, _ := heldWorld(t, zedPost)
			o := w.process(w.mail(lists.SubConfirm, commands.Token(post), tc.raw))
			got := o.Event + ": " + o.Reason
			if !strings.HasPrefix(got, tc.want) {
				t.Fatalf("%s, want %s", got, tc.want)
			}
			if waits := len(w.state.Held()) == 1; waits == (o.Event == "moderated") {
				t.Errorf("waits: %v", waits)
			}
			if asked := len(notices(o)) == 1 && notices(o)["mona@example.org"] != nil; asked != (o.Event == "refused") && !strings.HasPrefix(tc.want, "moderated") {
				t.Errorf("answered: %v", asked)
			}
		})
	}
}

func TestReasonIsWhole(t *testing.T) {
	w, post, _ := heldWorld(t, zedPost)
	o := w.process(w.mail(lists.SubConfirm, commands.Token(post), monas("reject: this is off topic, and\nmuch too long\n\nMona\n")))
	if n := child(o, queue.Virgin); n == nil || !strings.Contains(string(n.Raw), "\r\nthis is off topic, and much too long\r\n") {
		t.Errorf("%s", n.Raw)
	}
}

// Two moderators answer at once: it is done once, and the second hears so.
func TestTokenIsGoodOnce(t *testing.T) {
	w, post, _ := heldWorld(t, zedPost)
	if o := w.process(w.mail(lists.SubConfirm, commands.Token(post), monas("accept\n"))); o.Event != "moderated" {
		t.Fatalf("%+v", o)
	}
	e := w.mail(lists.SubConfirm, commands.Token(post), monas("discard\n"))
	e.Sender = "nils@example.org"
	o := w.process(e)
	if n := notices(o)["nils@example.org"]; o.Event != "refused" || n == nil || !strings.Contains(string(n.Raw), "done already") || len(o.Children) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestWhoMayModerate(t *testing.T) {
	w, post, _ := heldWorld(t, zedPost, "moderator_password", "s3cret")
	token := commands.Token(post)
	other := "b"
	if token[len(token)-1] == 'b' {
		other = "c"
	}
	wrong := token[:len(token)-1] + other
	for _, tc := range []struct {
		name string
		e    *queue.Entry
		want string
	}{
		{"wrong token", w.mail(lists.SubConfirm, wrong, monas("accept\n")), "refused"},
		{"no token", w.mail(lists.SubConfirm, "", monas("accept\n")), "refused"},
		{"id without password", w.mail(lists.SubRequest, "", monas("accept "+post.ID+"\n")), "refused"},
		{"wrong password", w.mail(lists.SubRequest, "", "Approved: secret\n"+monas("accept "+post.ID+"\n")), "refused"},
		{"password, no id", w.mail(lists.SubRequest, "", "Approved: s3cret\n"+monas("accept\n")), "refused"},
		{"other addresses", w.mail(lists.SubJoin, "", monas("accept\n")), "pending"},
	} {
		if o := w.process(tc.e); o.Event != tc.want || len(w.state.Held()) != 1 {
			t.Errorf("%s: %+v", tc.name, o)
		}
	}
	if o := w.process(w.mail(lists.SubRequest, "", monas("Approved: s3cret\naccept "+post.ID+"\n"))); o.Event != "moderated" || len(w.state.Held()) != 0 {
		t.Errorf("password in the text: %+v", o)
	}
}

// Where a token is looked for: the address, the subject, the text.
func TestWhereTokensAre(t *testing.T) {
	for name, mail := range map[string]func(*world, string) *queue.Entry{
		"address": func(w *world, tok string) *queue.Entry { return w.mail(lists.SubConfirm, tok, monas("discard\n")) },
		"address, shouted": func(w *world, tok string) *queue.Entry {
			return w.mail(lists.SubConfirm, strings.ToUpper(tok), monas("discard\n"))
		},
		"subject": func(w *world, tok string) *queue.Entry {
			return w.mail(lists.SubRequest, "", strings.Replace(monas("discard\n"), "confirm", "confirm "+tok+": post", 1))
		},
		"text": func(w *world, tok string) *queue.Entry {
			return w.mail(lists.SubRequest, "", monas("confirm "+tok+"\ndiscard\n"))
		},
	} {
		w, post, _ := heldWorld(t, zedPost)
		if o := w.process(mail(w, commands.Token(post))); o.Event != "moderated" || len(w.state.Held()) != 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// An autoresponder answers a confirmation (reproducer 024): nothing happens.
func TestAutoresponder024(t *testing.T) {
	raw := repro(t, "024-autoresponder-confirms.eml")
	w, post, _ := heldWorld(t, zedPost)
	o := w.process(w.mail(lists.SubConfirm, commands.Token(post), raw+"accept\n"))
	if o.Event != "ignored" || len(o.Children)+len(o.Changes) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestSeveralAuthors(t *testing.T) {
	w, post, _ := heldWorld(t, strings.Replace(zedPost, "From: ", "From: anne@example.org, ", 1))
	o := w.process(w.mail(lists.SubConfirm, commands.Token(post), monas("ban\n")))
	if o.Event != "refused" || len(w.state.Held()) != 1 || w.state.List().Settings.Text("ban_list") != "" {
		t.Errorf("%+v", o)
	}
}

func FuzzCommand(f *testing.F) {
	w := newWorld(f, liststest.Ant, "moderator_password", "pw")
	w.process(w.entry("zed@example.net", zedPost))
	token := commands.Token(w.state.Held()[0])
	for _, s := range []string{"", monas("accept\n"), monas("reject: x\n"), "Content-Type: text/html\n\n<blockquote>accept", "Approved: pw\n" + monas("accept aaaaaaaaaa\n"), "Subject: confirm " + token + "\n\nban\n",
		"From: a@b.org\nSubject: =?utf-8?q?R=C3=A9f=3A_join?=\n\nset digest plain\nset hide on\nwho\nchange x@y.org\nend\n", "From: Z <z@b.org>\nSubject: confirm x\n\nsubscribe address=a@b.org digest=mime\necho \x00\n"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, withToken bool) {
		e := w.entry("mona@example.org", string(raw))
		e.Queue, e.Target = queue.Command, lists.Target{List: w.id, Sub: lists.SubConfirm}
		if withToken {
			e.Target.Extra = token
		}
		o, err := w.stages[queue.Command].Process(t.Context(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
		if err != nil {
			t.Fatal(err)
		}
		if o.Event == "" || o.Reason == "" {
			t.Errorf("%+v", o)
		}
		if _, err := w.state.With(liststest.Day(), o.Changes...); err != nil {
			t.Error(err)
		}
	})
}
