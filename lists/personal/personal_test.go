package personal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/lists/message"
)

var dora = &Person{Address: "dora@example.org", Name: " Dóra\r\nX-Evil: $user_email ${x} $$ \x00", Language: "hu", Options: "https://x.example/"}

func TestExpand(t *testing.T) {
	values := map[string]string{"listname": "ant@x.org", "info": "costs $5, ask $user_name, $$"}
	for _, tc := range []struct{ template, list, dora string }{
		{"$listname", "ant@x.org", "ant@x.org"},
		{"${listname}s", "ant@x.orgs", "ant@x.orgs"},
		{"$listnames $ $- ${ ${} $1", "$listnames $ $- ${ ${} $1", "$listnames $ $- ${ ${} $1"},
		{"$$listname $$$listname", "$listname $ant@x.org", "$listname $ant@x.org"},
		{"$info", "costs $5, ask $user_name, $$", "costs $5, ask $user_name, $$"},
		{"<$user_address> ${user_email}", "<$user_address> ${user_email}", "<dora@example.org> dora@example.org"},
		{"$user_language$listname", "$user_languageant@x.org", "huant@x.org"},
		{"$user_name!", "$user_name!", "Dóra  X-Evil: $user_email ${x} $$!"},
		{"$user_optionsurl $nosuch", "$user_optionsurl $nosuch", "https://x.example/ $nosuch"},
	} {
		if got := Plain(Expand(tc.template, values, false)); got != tc.list {
			t.Errorf("%q for all: %q", tc.template, got)
		}
		f := Compile(lists.Gap{Charset: "utf-8", Text: Expand(tc.template, values, true)})
		if got := string(f.Append(nil, dora)); got != tc.dora {
			t.Errorf("%q for dora: %q", tc.template, got)
		}
	}
}

// Whatever the encoding, the text comes back; what the charset lacks is a question mark.
func TestFillEncodes(t *testing.T) {
	text := "for $user_name_or_address, " + strings.Repeat("long ", 20) + "\r\n"
	for _, tc := range []struct{ encoding, charset, name string }{
		{"7bit", "us-ascii", "D?ra"}, {"8bit", "iso-8859-1", "Dóra"}, {"quoted-printable", "utf-8", "Dóra"}, {"base64", "utf-8", "Dóra"},
		{"base64", "koi8-r", "D?ra"}, {"Quoted-Printable", "", "D?ra"},
	} {
		g := lists.Gap{Encoding: tc.encoding, Charset: tc.charset, Text: text, Before: []byte("before "), After: []byte("after\r\n")}
		out := Compile(g).Append([]byte("X"), &Person{Name: "Dóra"})
		m := message.Parse(append([]byte("Content-Transfer-Encoding: "+tc.encoding+"\r\n\r\n"), out[1:]...))
		root, err := m.Structure()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := message.ToUTF8(root.Decode(m.Body()), tc.charset)
		if want := "before for " + tc.name + ", " + strings.Repeat("long ", 20) + "\r\nafter\r\n"; !ok || got != want || out[0] != 'X' {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

func TestFlatten(t *testing.T) {
	body := []byte("onetwo")
	out, left := Flatten(body, []lists.Gap{{At: 0, Text: "$$"}, {At: 3, Text: "$user_name"}, {At: 3, Text: "-"}, {At: 6, Text: "!"}})
	if string(out) != "$one-two!" || len(left) != 1 || left[0].At != 4 {
		t.Errorf("%q %+v", out, left)
	}
	if string(body) != "onetwo" {
		t.Error("the body was changed")
	}
}

func TestSampleAndWidest(t *testing.T) {
	all := func(yield func(*Person) bool) {
		_ = yield(&Person{Name: "Dóra ő", Address: "ü@x.org"}) && yield(&Person{Name: "ób"})
	}
	if got := Sample("$user_name é", all); got != "óő" {
		t.Errorf("%q", got)
	}
	if got := Sample("é $$user_name", all); got != "" {
		t.Errorf("%q", got)
	}
	if n := len(Widest("a$user_name$$")); n != maxValue+2 {
		t.Error(n)
	}
}

// No text and no value makes a line that was not in the template, nor anything but UTF-8.
func FuzzFill(f *testing.F) {
	f.Add("$user_name ${user_address} $$ ${", "a\r\n$user_email")
	f.Add("$$$$$user_name$", "\xff\u2028")
	f.Fuzz(func(t *testing.T, template, name string) {
		text := Expand(template, map[string]string{"listname": name}, true)
		if again := Plain(Escape(template)); again != template {
			t.Errorf("%q escaped and back: %q", template, again)
		}
		out := Compile(lists.Gap{Charset: "utf-8", Text: text}).Append(nil, &Person{Name: name, Address: "a@b.org"})
		if utf8.ValidString(template) && utf8.ValidString(name) && !utf8.Valid(out) {
			t.Errorf("%q", out)
		}
		if !strings.Contains(template, "listname") && bytes.Count(out, []byte("\n")) != strings.Count(template, "\n") {
			t.Errorf("%q makes lines of its own: %q", name, out)
		}
	})
}
