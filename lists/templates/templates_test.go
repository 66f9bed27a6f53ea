package templates

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

// wanted is Mailman's list of templates.
const wanted = `list:admin:action:post list:admin:action:subscribe list:admin:action:unsubscribe
list:admin:notice:disable list:admin:notice:increment list:admin:notice:pending list:admin:notice:removal
list:admin:notice:subscribe list:admin:notice:unrecognized list:admin:notice:unsubscribe
list:member:digest:header list:member:digest:footer list:member:digest:masthead
list:member:regular:header list:member:regular:footer list:member:generic:footer
list:user:action:invite list:user:action:subscribe list:user:action:unsubscribe
list:user:notice:goodbye list:user:notice:hold list:user:notice:no-more-today list:user:notice:post
list:user:notice:probe list:user:notice:refuse list:user:notice:rejected list:user:notice:warning
list:user:notice:welcome domain:admin:notice:new-list`

// ours are those that Mailman has not.
const ours = `list:admin:notice:complaint list:admin:notice:owner-bounces list:admin:notice:refused list:admin:notice:storm list:admin:notice:undelivered
list:user:action:request
list:user:notice:complaint list:user:notice:enabled list:user:notice:too-late list:user:notice:undelivered
site:admin:notice:trouble`

func TestEveryTemplateIsBuiltIn(t *testing.T) {
	names := map[Name]bool{}
	for _, n := range strings.Fields(wanted + " " + ours) {
		names[Name(n)] = true
	}
	for _, row := range Table {
		if !names[row.Name] {
			t.Errorf("%s is in no list", row.Name)
		}
		delete(names, row.Name)
	}
	if len(names) > 0 {
		t.Errorf("missing: %v", names)
	}
	for _, lang := range Languages {
		if data, err := texts.ReadFile("text/" + lang + ".txt"); err != nil || strings.Count("\n"+string(data), "\n"+mark) != len(Table) {
			t.Errorf("%s has other than %d templates, %v", lang, len(Table), err)
		}
		for _, row := range Table {
			text, ok := Builtin(row.Name, lang)
			if !ok {
				t.Errorf("%s: no %s", lang, row.Name)
				continue
			}
			if err := Check(row.Name, text); err != nil {
				t.Errorf("%s: %s: %v", lang, row.Name, err)
			}
			for line := range strings.Lines(text) {
				if len([]rune(line)) > 90 && !strings.HasPrefix(line, "Subject:") || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") && line != "-- \n" {
					t.Errorf("%s: %s: line %q", lang, row.Name, line)
				}
			}
		}
	}
}

// Every language shows the same variables: none was lost in translation.
func TestTranslationsShowTheSame(t *testing.T) {
	for _, row := range Table {
		vars := Vars{}
		for _, v := range row.Vars {
			vars[v] = "<" + v + ">"
		}
		shown := map[string][]string{}
		for _, lang := range Languages {
			l := liststest.List(nil, "info", "<info>", "description", "<description>", "display_name", "<display_name>")
			got, err := (&Set{SiteEmail: "<site_email>"}).Render(t.Context(), l, row.Name, lang, vars)
			if err != nil || got.Lang != lang || got.Scope != BuiltinScope {
				t.Fatalf("%s: %s: %+v, %v", lang, row.Name, got.Found, err)
			}
			for _, v := range append(row.Vars, "info", "description", "display_name", "site_email") {
				if strings.Contains(got.Subject+got.Body, "<"+v+">") {
					shown[lang] = append(shown[lang], v)
				}
			}
			if diff := cmp.Diff(shown["en"], shown[lang]); diff != "" {
				t.Errorf("%s: %s shows other variables than English:\n%s", lang, row.Name, diff)
			}
		}
	}
}

// files is a share with templates.
type files map[string]string

func (f files) read(name string) (string, error) {
	text, ok := f[name]
	switch {
	case text == "(closed)":
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	case text == "(trouble)":
		return "", &fs.PathError{Op: "open", Path: name, Err: errors.New("input/output error")}
	case !ok:
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

func TestLookup(t *testing.T) {
	const ant = "lists/ant@lists.example.com"
	for _, tc := range []struct {
		name       string
		files      files
		list, lang string // the list's language, the reader's
		want       string
		broken     int
	}{
		{"none", nil, "en", "", "built in en", 0},
		{"site", files{"site/en": "s"}, "en", "", "site en", 0},
		{"domain before site", files{"site/en": "s", "domains/lists.example.com/en": "d"}, "en", "", "domains/lists.example.com en", 0},
		{"list before domain", files{"domains/lists.example.com/en": "d", ant + "/en": "l"}, "en", "", ant + " en", 0},
		{"reader's language first", files{ant + "/en": "l", "site/xx": "s"}, "en", "xx", "site xx", 0},
		{"the list's next", files{"site/xx": "s"}, "xx", "yy", "site xx", 0},
		{"English last", files{"site/en": "s"}, "xx", "yy", "site en", 0},
		{"another list's", files{"lists/bee@lists.example.com/en": "l"}, "en", "", "built in en", 0},
		{"region", files{"site/xx": "s"}, "en", "xx-YY", "built in en", 0},
		{"no code", files{"site/../en": "s"}, "en", "../../x", "built in en", 0},
		{"broken", files{ant + "/en": "{{.nosuch}}", "site/en": "s"}, "en", "", "site en", 1},
		{"all broken", files{ant + "/en": "{{", "site/en": "{{.x.y}}"}, "en", "", "built in en", 2},
		{"closed", files{"site/en": "(closed)"}, "en", "", "built in en", 1},
	} {
		on := files{}
		for k, v := range tc.files {
			on["templates/"+k+"/list:member:regular:footer.txt"] = v
		}
		var log strings.Builder
		s := &Set{Read: on.read, Log: slog.New(slog.NewTextHandler(&log, nil))}
		l := liststest.List(nil, "preferred_language", tc.list)
		for range 2 {
			got, err := s.Render(t.Context(), l, RegularFooter, tc.lang, nil)
			if err != nil || string(got.Scope)+" "+got.Lang != tc.want || len(got.Broken) != tc.broken {
				t.Errorf("%s: %q from %s %s, broken %v, %v; want %s", tc.name, got.Body, got.Scope, got.Lang, got.Broken, err, tc.want)
			}
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != tc.broken {
			t.Errorf("%s: said %d times, want %d", tc.name, n, tc.broken)
		}
	}
	s := &Set{Read: files{"templates/site/en/list:member:regular:footer.txt": "(trouble)"}.read}
	if _, err := s.Render(t.Context(), liststest.List(nil), RegularFooter, "", nil); err == nil {
		t.Error("trouble of the share was taken for an answer")
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ text, err string }{
		{"", ""},
		{"plain $listname %(x)s [% x %]", ""},
		{"{{.listname}}{{/* why */}}", ""},
		{"{{if .user_name}}a{{else if eq .user_email `x`}}b{{else}}c{{end}}", ""},
		{"{{if and .user_name (not .info)}}a{{end}}", ""},
		{"{{.listname}", "bad character"},
		{"{{.nosuch}}", `no variable "nosuch"`},
		{"{{.reasons}}", `no variable "reasons"`},
		{"{{.listname.x}}", "no variable"},
		{"{{.}}", "no variable"},
		{"{{$}}", "no variable"},
		{"{{print .listname}}", "only variables"},
		{`{{printf "%999999999d" 1}}`, "only variables"},
		{"{{.listname | printf `%9999d`}}", "only variables"},
		{"{{$x := .listname}}", "only variables"},
		{"{{range .listname}}x{{end}}", "only variables"},
		{"{{with .listname}}x{{end}}", "only variables"},
		{"{{template `x`}}", "only variables"},
		{"{{define `x`}}{{end}}", "not for these"},
		{"{{if len .info}}x{{end}}", "not for these"},
		{"{{if call .info}}x{{end}}", "not for these"},
		{"{{if $x := .info}}x{{end}}", "too much"},
		{"{{if .info}}{{.nosuch}}{{end}}", `no variable "nosuch"`},
		{"{{if .info}}{{else}}{{.nosuch}}{{end}}", `no variable "nosuch"`},
		{"\xff", "UTF-8"},
		{"a\x00", "NUL"},
		{strings.Repeat("x", MaxSize+1), "longer"},
		{strings.Repeat("{{if .info}}", 5000), "unexpected EOF"},
	} {
		err := Check(RegularFooter, tc.text)
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%.60q: %v, want %q", tc.text, err, tc.err)
		}
	}
	if err := Check(UserWelcome, "no subject\n"); err == nil {
		t.Error("a notice without a subject")
	}
	if err := Check("list:no:such", ""); err == nil {
		t.Error("an unknown name")
	}
}

// Template syntax in values is text (reproducer 053).
func TestValuesAreNotParsed(t *testing.T) {
	const evil = `[% user.password %] ${list} $list_name. %(listname)s %s %d % {{.Secret}} {{template "x"}}`
	l := liststest.List(nil, "description", evil, "display_name", evil)
	got, err := (&Set{}).Render(t.Context(), l, UserRejected, "", Vars{"subject": evil, "reasons": evil + "\r\nBcc: x@example.org", "listname": "forged"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Subject, evil) || strings.Count(got.Body, evil) != 2 || strings.Contains(got.Body, "forged") || strings.Contains(got.Body, "\r") {
		t.Errorf("%+v", got)
	}
	got, err = (&Set{}).Render(t.Context(), liststest.List(nil, "display_name", "Ant"), UserHold, "", Vars{"subject": "a\r\nBcc: x@example.org\r\n\r\nbody"})
	if err != nil {
		t.Fatal(err)
	}
	m := message.Parse(got.Message("ant-owner@lists.example.com", "anne@example.org", "auto-replied").Wire())
	if m.Has("Bcc") || m.Get("Subject") != "Your post to Ant waits for a moderator" || m.Get("Auto-Submitted") != "auto-replied" {
		t.Errorf("%s", m.Bytes())
	}
}

func TestEncode(t *testing.T) {
	long := strings.Repeat("ü", 600)
	for _, tc := range []struct{ text, charset, encoding, body string }{
		{"a\nb\n", "us-ascii", "7bit", "a\r\nb\r\n"},
		{"ü\n", "utf-8", "8bit", "ü\r\n"},
		{long, "utf-8", "quoted-printable", ""},
		{strings.Repeat("x", 999), "us-ascii", "quoted-printable", ""},
	} {
		charset, encoding, body := Encode(tc.text)
		if charset != tc.charset || encoding != tc.encoding || tc.body != "" && string(body) != tc.body {
			t.Errorf("%.20q: %s, %s, %.40q", tc.text, charset, encoding, body)
		}
	}
}

// FuzzTemplate: what passes Check can be shown, and is no longer than it must be.
func FuzzTemplate(f *testing.F) {
	for _, row := range Table {
		text, _ := Builtin(row.Name, "en")
		f.Add(text)
	}
	for _, s := range []string{"{{", "{{if .info}}", "{{if eq .info `x` .listname}}a{{end}}", "{{if not}}x{{end}}", "{{if and}}x{{end}}", "Subject: {{.info}}\n\nx"} {
		f.Add(s)
	}
	vars := Vars{"user_name": "{{.info}}"}
	l := liststest.List(nil, "info", "i")
	f.Fuzz(func(t *testing.T, text string) {
		checked := Check(UserWelcome, text) == nil
		s := &Set{Read: func(name string) (string, error) {
			if !strings.HasPrefix(name, "templates/site/en/") {
				return "", fs.ErrNotExist
			}
			return text, nil
		}}
		got, err := s.Render(t.Context(), l, UserWelcome, "en", vars)
		if err != nil {
			t.Fatal(err)
		}
		if checked && got.Scope != SiteScope {
			t.Errorf("%q passed the check, and then: %v", text, got.Broken)
		}
		if longest := len("ant-request@lists.example.com"); len(got.Body) > 1000+len(text)*longest {
			t.Errorf("%d octets of %q", len(got.Body), text)
		}
	})
}
