package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAddressList(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"anne@example.org":               "|anne@example.org",
		"Anne Person <anne@example.org>": "Anne Person|anne@example.org",
		`"Person, Anne" <anne@example.org>, b@x.org`:               "Person, Anne|anne@example.org;|b@x.org",
		"anne@example.org (Anne (the) Person)":                     "Anne (the) Person|anne@example.org",
		"(a, b) anne@example.org":                                  "a, b|anne@example.org",
		"=?utf-8?q?J=C3=BCrgen=2C?= <j@example.org>":               "Jürgen,|j@example.org",
		"group: a@x.org, b@x.org;, c@x.org":                        "|a@x.org;|b@x.org;|c@x.org",
		"undisclosed-recipients:;":                                 "",
		"<@hub.org,@b.org:anne@example.org>":                       "|anne@example.org",
		`"a b"@example.org`:                                        `|"a b"@example.org`,
		"anne@example.org <zed@example.net>":                       "anne@example.org|zed@example.net",
		`"anne@example.org" <zed@example.net>`:                     "anne@example.org|zed@example.net",
		"<anne@example.org> <zed@example.net>":                     "|anne@example.org;|zed@example.net",
		"Anne <anne@example.org":                                   "Anne|anne@example.org",
		`"Anne <anne@example.org>, zed@example.net`:                `"Anne|anne@example.org;|zed@example.net`,
		"(Anne <anne@example.org>":                                 "Anne|anne@example.org",
		"a@x.org,,;b@x.org":                                        "|a@x.org;|b@x.org",
		"Anne@Example.ORG":                                         "|Anne@example.org",
		"Ren\xe9 <bart@example.org>":                               "René|bart@example.org",
		"undisclosed":                                              "|!undisclosed",
		"<>":                                                       "|!<>",
		"zed@":                                                     "|!zed@",
		"a b@c d":                                                  "|!a b@c d",
		"anne@example.org zed@example.net":                         "|!anne@example.org zed@example.net",
		"a@b@example.org":                                          "|!a@b@example.org",
		"=?utf-8?q?anne=40example.org?=":                           "|!=?utf-8?q?anne=40example.org?=",
		"=?utf-8?Q?Anne=0D=0AX-Injected:_yes?= <anne@example.org>": "Anne\r\nX-Injected: yes|anne@example.org",
		"\"${admin} [% INCLUDE x %] {{.}}\" <anne@example.org>":    "${admin} [% INCLUDE x %] {{.}}|anne@example.org",
	} {
		var got []string
		for _, b := range ParseAddressList(in) {
			a := string(b.Address)
			if a == "" {
				a = "!" + b.Raw
			}
			got = append(got, b.Name+"|"+a)
		}
		if d := cmp.Diff(want, strings.Join(got, ";")); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

func TestAddressesOfSeveralFields(t *testing.T) {
	m := Parse([]byte("From: a@x.org\nCC: b@x.org, nonsense\nFrom: c@x.org\n\n"))
	got := m.Addresses("From", "Cc")
	if len(got) != 3 || got[0] != "a@x.org" || got[1] != "c@x.org" || got[2] != "b@x.org" {
		t.Errorf("got %v", got)
	}
}
