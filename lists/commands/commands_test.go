package commands

import (
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/store"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		subject, text string
		want          string // name id text; ...
	}{
		{"", "accept", "accept"},
		{"", "  ACCEPT ALWAYS!  ", "accept always"},
		{"discard", "", "discard"},
		{"Re: discard", "", ""},
		{"discard", "discard\n", "discard"},
		{"", "accept\ndiscard", "accept; discard"},
		{"", "reject: too loud", "reject: too loud"},
		{"", "reject : too loud\nand long\n\nbye", "reject: too loud and long"},
		{"", "reject: a\naccept", "reject: a; accept"},
		{"", "accept: why", ""},
		{"", "accept it", ""},
		{"", "please accept", ""},
		{"", "acceptance", ""},
		{"", "accept k3j2h4g5f6", "accept k3j2h4g5f6"},
		{"", "reject K3J2H4G5F6: no", "reject k3j2h4g5f6: no"},
		{"", "> accept", ""},
		{"", "accept\n-- \ndiscard", "accept"},
		{"", "accept\n" + Marker + "\ndiscard", "accept"},
		{"", "> " + Marker + "\naccept", "accept"},
		{"", "-----Original Message-----\naccept", ""},
		{"", strings.Repeat("x", 5000), ""},
	} {
		var got []string
		for _, c := range Find(Moderation, tc.subject, Own(tc.text)) {
			s := strings.TrimSpace(c.Command.Name + " " + c.ID)
			if c.Text != "" {
				s += ": " + c.Text
			}
			got = append(got, s)
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%q, %q: %q, want %q", tc.subject, tc.text, got, tc.want)
		}
	}
}

func TestConfirmAddress(t *testing.T) {
	p := store.HeldPost{ID: "abcdefghij", Token: strings.Repeat("x", 26)}
	if got := ConfirmAddress("ant@lists.example.com", Token(p)); got != "ant-confirm+abcdefghij.xxxxxxxxxxxxxxxxxxxxxxxxxx@lists.example.com" {
		t.Error(got)
	}
	long := lists.ID(strings.Repeat("a", 40) + "@lists.example.com")
	if got := ConfirmAddress(long, Token(p)); got != long.Address(lists.SubRequest) {
		t.Error(got)
	}
	if Token(store.HeldPost{ID: "abcdefghij"}) != "" {
		t.Error("a post without token has one")
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"accept", "reject: x\ny", "> x\n\ndiscard always", "*ban*", "accept \u00a0", "confirm aaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, subject, text string) {
		calls := Find(Moderation, subject, Own(text))
		for i, c := range calls {
			for _, o := range calls[:i] {
				if o.Command.Name == c.Command.Name && o.ID == c.ID {
					t.Errorf("%s %s stands there twice", c.Command.Name, c.ID)
				}
			}
		}
		if tok := FindToken(text, subject, text); tok != "" && len(tok) < 37 {
			t.Errorf("token %q", tok)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("Content-Type: text/html\r\n\r\n<p>accept</p>"))
	f.Add([]byte("Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\n\r\n--b\r\nContent-Type: text/html; charset=x\r\n\r\n\xff\r\n--b--"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s := Text(message.Parse(raw)); strings.Contains(s, "\x00") {
			t.Errorf("NUL in %q", s)
		}
	})
}
