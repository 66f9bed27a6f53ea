package message

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func repro(t *testing.T, name string) *Message {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(shared, "repro", name))
	if os.IsNotExist(err) {
		t.Skipf("no reproducer %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return Parse(raw)
}

func TestParseFindsHeaderAndBody(t *testing.T) {
	for _, tc := range []struct {
		name, raw string
		fields    string
		body      string
	}{
		{"plain", "A: 1\r\nB: 2\r\n\r\nbody", "A B", "body"},
		{"LF only", "A: 1\nB: 2\n\nbody\n", "A B", "body\n"},
		{"CR CR LF", "A: 1\r\r\nB: 2\r\r\n\r\r\nbody", "A B", "body"},
		{"folded", "A: 1\r\n 2\r\n\t3\r\nB: 2\r\n\r\n", "A B", ""},
		{"blank folded line is no end", "A: 1\r\n \r\n 3\r\nB: 2\r\n\r\nx", "A B", "x"},
		{"From_ first", "From x Mon Jan  1 10:00:00 2024\nTo: b\n\nx", "- To", "x"},
		{"From_ inside", "Subject: a\n>From x Mon Jan 1 10:00:00 2024\nTo: b\n\nx", "Subject - To", "x"},
		{"no colon inside", "Subject: a\nrubbish\nTo: b\n\nx", "Subject - To", "x"},
		{"no empty line", "Subject: a\nTo: b\nHello all,\nnote: this is text\n\nmore", "Subject To", "Hello all,\nnote: this is text\n\nmore"},
		{"no empty line at all", "Subject: a\nhello", "Subject", "hello"},
		{"no header", "hello\n\nworld", "", "hello\n\nworld"},
		{"no body", "Subject: a", "Subject", ""},
		{"empty line first", "\nSubject: a\n", "", "Subject: a\n"},
		{"NUL in a name", "Sub\x00ject: a\nTo: b\n\nx", "- To", "x"},
		{"nothing", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := Parse([]byte(tc.raw))
			var names []string
			for _, f := range m.Fields() {
				if f.Name == "" {
					f.Name = "-"
				}
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tc.fields {
				t.Errorf("fields %q, want %q", got, tc.fields)
			}
			if got := string(m.Body()); got != tc.body {
				t.Errorf("body %q, want %q", got, tc.body)
			}
			if got := string(m.Bytes()); got != tc.raw {
				t.Errorf("written %q, want %q", got, tc.raw)
			}
		})
	}
}

func TestOddHeaderLines015(t *testing.T) {
	m := repro(t, "015-crcrlf-garbage-header.eml")
	want := []string{"Anne Person <anne@example.org>", "ant@lists.example.com", "r015@example.org", "value", "before colon"}
	got := []string{m.Get("From"), m.Get("To"), m.MessageID(), m.Get("X-Odd"), m.Get("X-Blank")}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m.Get("Subject") != "odd header lines" || len(m.All("Subject")) != 1 {
		t.Errorf("subjects %q", m.All("Subject"))
	}
	if w := string(m.Wire()); !strings.Contains(w, "X-Blank: before colon\r\n") || strings.Contains(w, "no colon") ||
		!strings.HasSuffix(w, "\r\n\r\nbody line 1\r\nSubject: this is body text\r\n") {
		t.Errorf("wire:\n%q", w)
	}
}

func TestMessageID(t *testing.T) {
	for value, want := range map[string]string{
		"<a@b>": "a@b", "<a@b": "a@b", "a@b": "a@b", "  <a@b> (x)": "a@b", "<a b@c>": "ab@c", "": "",
		"<caf\xe9@b>": "caf?@b", "<a\x00@b>": "a@b",
	} {
		if got := CleanID(value); got != want {
			t.Errorf("CleanID(%q) = %q, want %q", value, got, want)
		}
	}
	if got := Parse([]byte("Message-ID:\r\n  <r054@example.org> \r\n\r\n")).MessageID(); got != "r054@example.org" {
		t.Errorf("folded id %q", got)
	}
	if got := repro(t, "007-junk-charset-param.eml").MessageID(); got != "r007@example.org" {
		t.Errorf("id without bracket %q", got)
	}
}

func TestEditsCannotInject(t *testing.T) {
	m := Parse([]byte("From: a\r\n\r\nbody\r\n"))
	m.Set("Subject", "x\r\nBcc: v@example.net\r\n\r\nbody\x00")
	m.Add("X-A", "1\nX-B: 2")
	m.Prepend("X-C", "1\rX-D: 2")
	again := Parse(m.Wire())
	var names []string
	for _, f := range again.Fields() {
		names = append(names, f.Name)
	}
	if d := cmp.Diff([]string{"X-C", "From", "Subject", "X-A"}, names); d != "" {
		t.Error(d)
	}
	if string(again.Body()) != "body\r\n" {
		t.Errorf("body %q", again.Body())
	}
}

func TestEditsKeepTheRest(t *testing.T) {
	raw := "A:  1 \r\nb: x\r\nSubject: =?x?q?a?=\r\n\tfolded\r\nB: y\r\n\r\nbody"
	m := Parse([]byte(raw))
	c := m.Clone()
	c.Set("B", "new")
	c.Del("Nothing")
	if got, want := string(c.Bytes()), "A:  1 \r\nB: new\r\nSubject: =?x?q?a?=\r\n\tfolded\r\n\r\nbody"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if string(m.Bytes()) != raw {
		t.Error("the clone's edit shows in the original")
	}
}

// The sizes are such that anything quadratic takes minutes.
func TestLinearTime(t *testing.T) {
	const n = 1 << 19
	start := time.Now()
	for name, raw := range map[string]string{
		"CRs":              strings.Repeat("\r", n),
		"odd lines":        strings.Repeat("x\n", n/2),
		"fields":           strings.Repeat("a:\n", n/3),
		"one folded field": "a:" + strings.Repeat("\n b", n/3),
		"quotes":           "From: " + strings.Repeat(`"\`, n/2),
		"comments":         "From: " + strings.Repeat("(", n),
		"angles":           "From: " + strings.Repeat("<", n),
		"words":            "Subject: " + strings.Repeat("=?", n/2),
		"half words":       "Subject: " + strings.Repeat("=?u?q?", n/6),
		"real words":       "Subject: " + strings.Repeat("=?utf-8?q?a?= ", n/14),
		"no blanks":        "Subject: " + strings.Repeat("\xe9", n),
		"blanks":           "Subject: x" + strings.Repeat(" ", n) + "x",
		"quoted-printable": "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("=", n),
		"qp blanks":        "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("= ", n/2),
		"delimiters":       "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n", n/4),
		"parameters":       "Content-Type: text/plain; " + strings.Repeat(`a="`, n/3),
	} {
		m := Parse([]byte(raw))
		for _, f := range m.Fields() {
			v := f.Value()
			ParseAddressList(v)
			NewField("X", EncodeHeader(DecodeHeader(v)))
		}
		if root, err := m.Structure(); err == nil {
			root.Text(m.Body())
		}
		m.Wire()
		t.Logf("%-20s %v", name, time.Since(start).Round(time.Millisecond))
	}
}
