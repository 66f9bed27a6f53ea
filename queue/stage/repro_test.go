package stage

import (
	"bytes"
	"strings"
	"testing"

	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/queue"
)

// antFooter and antPrefix are the settings that the reproducers share.
const (
	antPrefix = "[Ant]"
	antFooter = "-- \nAnt: $posting_address\n"
)

// deliver sends a reproducer through the stage and returns the copy.
func deliver(t *testing.T, raw string, settings ...string) *message.Message {
	t.Helper()
	settings = append([]string{"subject_prefix", antPrefix, "footer", antFooter}, settings...)
	w := newWorld(t, liststest.Ant, settings...)
	o := w.process(w.entry("anne@example.org", raw))
	f := sent(o)
	if f == nil {
		t.Fatalf("not delivered: %s (%s)", o.Event, o.Reason)
	}
	if to(f) != "anne bart dora emil+tag" {
		t.Errorf("delivered to %s", to(f))
	}
	if bare := bytes.ReplaceAll(f.Raw, []byte("\r\n"), nil); bytes.ContainsAny(bare, "\r\n") {
		t.Error("bare CR or LF goes out")
	}
	for line := range bytes.SplitSeq(f.Raw, []byte("\r\n")) {
		if len(line) > 998 {
			t.Errorf("a line of %d octets goes out", len(line))
		}
	}
	return message.Parse(f.Raw)
}

func TestRepro(t *testing.T) {
	footer := []byte("-- \r\nAnt: ant@lists.example.com\r\n")
	hasFooter := func(t *testing.T, m *message.Message) {
		t.Helper()
		if !bytes.Contains(m.Body(), footer) {
			t.Errorf("no footer:\n%s", m.Body())
		}
	}
	contains := func(t *testing.T, m *message.Message, text string) {
		t.Helper()
		if !bytes.Contains(m.Body(), []byte(text)) {
			t.Errorf("body lacks %q:\n%s", text, m.Body())
		}
	}
	for name, check := range map[string]func(*testing.T, *message.Message){
		"001-unknown-charset-subject.eml": func(t *testing.T, m *message.Message) {
			if got := m.Get("Subject"); got != "[Ant] =?x-klingon-7?B?dGVzdCDo6eo=?= middle =?utf-8?X?not_a_letter?= tail" {
				t.Errorf("subject %q", got)
			}
			hasFooter(t, m)
		},
		"003-mislabelled-utf8-footer.eml": func(t *testing.T, m *message.Message) {
			contains(t, m, "Un caf\xe9, s'il vous pla\xeet.\r\n")
			if m.ContentType().Media != "multipart/mixed" {
				t.Errorf("type %s", m.ContentType().Media)
			}
			hasFooter(t, m)
		},
		"005-nul-byte.eml": func(t *testing.T, m *message.Message) { contains(t, m, "nul in the ") },
		"006-raw-8bit-headers.eml": func(t *testing.T, m *message.Message) {
			if got := m.Get("Subject"); got != "[Ant] Gr\xfc\xdfe aus K\xf6ln" && message.DecodeHeader(got) != "[Ant] Grüße aus Köln" {
				t.Errorf("subject %q", got)
			}
			hasFooter(t, m)
		},
		"007-junk-charset-param.eml": func(t *testing.T, m *message.Message) {
			if got := m.Get("Content-Type"); got != `text/plain; charset="UTF-8"\r\n` {
				t.Errorf("type %q", got)
			}
			contains(t, m, "Liebe Grüße\r\n")
			hasFooter(t, m)
		},
		"008-signed-without-parts.eml": func(t *testing.T, m *message.Message) {
			if !strings.HasSuffix(string(m.Body()), "There is no boundary line below this one.\r\n") {
				t.Errorf("body %q", m.Body())
			}
		},
		"010-mime-depth-bomb.eml":       func(t *testing.T, m *message.Message) {},
		"010-mime-depth-bomb.parts.eml": func(t *testing.T, m *message.Message) {},
		"012-encoded-newline-injection.eml": func(t *testing.T, m *message.Message) {
			if m.Has("Bcc") || m.Has("X-Injected") || len(m.All("Subject")) != 1 || len(m.All("From")) != 1 {
				t.Errorf("header:\n%q", m.Bytes())
			}
		},
		"014-re-only-subject.eml": func(t *testing.T, m *message.Message) {
			if got := m.Get("Subject"); got != "[Ant] Re:" {
				t.Errorf("subject %q", got)
			}
		},
		"015-crcrlf-garbage-header.eml": func(t *testing.T, m *message.Message) {
			if m.Get("X-Odd") != "value" || m.Get("X-Blank") != "before colon" || m.MessageID() != "r015@example.org" {
				t.Errorf("header:\n%q", m.Bytes())
			}
			contains(t, m, "body line 1\r\nSubject: this is body text\r\n")
		},
		"017-long-lines.eml": func(t *testing.T, m *message.Message) {
			root, err := m.Structure()
			if err != nil || len(root.Parts) != 2 || root.Parts[0].Encoding() != "quoted-printable" || len(m.Get("References")) < 5000 {
				t.Fatalf("%+v, %v, references %d", root, err, len(m.Get("References")))
			}
			if text := root.Parts[0].Decode(m.Body()); len(text) < 20000 {
				t.Errorf("text of %d octets", len(text))
			}
		},
		"017-long-lines.subject.eml": func(t *testing.T, m *message.Message) {
			if got := message.DecodeHeader(m.Get("Subject")); !strings.HasPrefix(got, "[Ant] ") || len(got) < 1000 || strings.Contains(got, "=?") {
				t.Errorf("subject of %d octets: %.60q", len(got), got)
			}
		},
		"053-template-syntax-in-body.eml": func(t *testing.T, m *message.Message) {
			contains(t, m, `[% user.password %] ${list} $list_name. %(listname)s %s %d % {{.Secret}} {{template "x"}}`)
			if got := m.Get("Subject"); got != "[Ant] $subject %(x)s {{.}}" {
				t.Errorf("subject %q", got)
			}
		},
		"054-archiver-down-folded-id.eml": func(t *testing.T, m *message.Message) {
			if m.MessageID() != "r054@example.org" {
				t.Errorf("id %q", m.MessageID())
			}
		},
		"055-attachment-filenames.eml": hasFooter,
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.Replace(repro(t, name), "To: ant-request@", "To: ant@", 1)
			check(t, deliver(t, raw, "administrivia", "no"))
		})
	}
}

func TestReOnlySubjects014(t *testing.T) {
	raw := repro(t, "014-re-only-subject.eml")
	for _, line := range []string{"Subject:\r\n", "", "Subject: [Ant]\r\n", "Subject: =?utf-8?Q?Re:?=\r\n"} {
		m := deliver(t, strings.Replace(raw, "Subject: Re:\r\n", line, 1))
		got := message.DecodeHeader(m.Get("Subject"))
		if !strings.HasPrefix(got, "[Ant] ") || strings.Count(got, "[Ant]") != 1 {
			t.Errorf("%q became %q", line, got)
		}
	}
}

func TestTemplateSyntaxInFooter053(t *testing.T) {
	m := deliver(t, repro(t, "053-template-syntax-in-body.eml"), "footer", "-- \n$display_name has $nosuch ${unterminated %(also)s\nbye $user_email.")
	if !bytes.Contains(m.Body(), []byte("Ant has $nosuch ${unterminated %(also)s\r\nbye $user_email.\r\n")) {
		t.Errorf("footer:\n%s", m.Body())
	}
}

// The password in an HTML part, split by markup, is taken out there too, and nothing
// else. Where a part shows it in another place, the post goes back to its author, and
// the password to nobody.
func TestApprovedInHTML037(t *testing.T) {
	raw := repro(t, "037-approved-in-html.eml")
	w := newWorld(t, liststest.Ant, "moderator_password", "s3cret-pw")
	o := w.process(w.entry("zed@example.net", raw))
	f := sent(o)
	if f == nil {
		t.Fatalf("%+v", o)
	}
	for _, copy := range [][]byte{f.Raw, child(o, queue.Archive).Raw} {
		m := message.Parse(copy)
		root, err := m.Structure()
		if err != nil || len(root.Parts) < 1 {
			t.Fatalf("%v\n%s", err, copy)
		}
		var texts []string
		for p := range root.Leaves {
			texts = append(texts, string(p.Decode(m.Body())))
		}
		all := strings.Join(texts, "|")
		if strings.Contains(all, "s3cr") || strings.Contains(all, "-pw") || strings.Contains(all, "Approved") ||
			!strings.Contains(all, "Hello all\n|") || !strings.Contains(all, `<p style="margin:0"><b></b></p><p>Hello all</p>`) {
			t.Errorf("copy: %q", all)
		}
	}
	again := strings.Replace(raw, "<p>Hello all</p>", "<p>Hello all</p><p>s3cr<i>et</i>-pw</p>", 1)
	o = w.process(w.entry("zed@example.net", again))
	n := child(o, queue.Virgin)
	if o.Event != "rejected" || sent(o) != nil || n == nil || bytes.Contains(n.Raw, []byte("s3cret")) {
		t.Errorf("%+v", o)
	}
	o = w.process(w.entry("zed@example.net", "Approved: s3cret-pw\r\nFrom: zed@example.net\r\nTo: ant@lists.example.com\r\n\r\nx\r\n"))
	if f := sent(o); f == nil || bytes.Contains(f.Raw, []byte("s3cret")) {
		t.Errorf("%+v", o)
	}
}

// A list description of two lines cannot be set (reproducer 012); a sender's text in
// the state and in notices is one line.
func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\x00\x1b[2J": "a  b  [2J", "caf\xe9": "caf?", strings.Repeat("ü", 150): strings.Repeat("ü", 100) + "...",
	} {
		if got := shown(in); got != want {
			t.Errorf("shown(%q) = %q, want %q", in, got, want)
		}
	}
}
