package dmarc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/publicsuffix"

	"qrunner/lists"
	"qrunner/lists/mailauth/txt"
)

var _ lists.DMARC = (*Finder)(nil)

// asked is a zone that notes the questions; "SERVFAIL" does not answer.
type asked struct {
	txt.Map
	names []string
}

func (a *asked) LookupTXT(ctx context.Context, name string) ([]string, error) {
	a.names = append(a.names, strings.TrimPrefix(name, "_dmarc."))
	if v := a.Map[name]; len(v) == 1 && v[0] == "SERVFAIL" {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	return a.Map.LookupTXT(ctx, name)
}

func zone(records map[string]string) *asked {
	m := txt.Map{}
	for name, v := range records {
		m["_dmarc."+name] = strings.Split(v, " | ")
	}
	return &asked{Map: m}
}

func TestFind(t *testing.T) {
	const none, quarantine, reject = lists.DMARCNone, lists.DMARCQuarantine, lists.DMARCReject
	for _, tc := range []struct {
		name    string
		zone    map[string]string
		domain  string
		want    lists.DMARCPolicy
		at      string
		missing bool // the domain does not exist
	}{
		{"nothing", nil, "example.org", none, "", false},
		{"own", map[string]string{"example.org": "v=DMARC1; p=reject"}, "example.org", reject, "example.org", false},
		{"own, others too", map[string]string{"example.org": "v=spf1 -all | v=DMARC1;p=Quarantine;x=y | p=none"}, "example.org.", quarantine, "example.org", false},
		{"two", map[string]string{"example.org": "v=DMARC1; p=reject | v=DMARC1; p=none"}, "example.org", none, "", false},
		{"two, organisation", map[string]string{"a.example.org": "v=DMARC1; p=none | v=DMARC1; p=none", "example.org": "v=DMARC1; p=reject"}, "a.example.org", reject, "example.org", false},
		{"organisation", map[string]string{"example.org": "v=DMARC1; p=reject"}, "a.b.example.org", reject, "example.org", false},
		{"sp", map[string]string{"example.org": "v=DMARC1; p=reject; sp=none"}, "a.example.org", none, "example.org", false},
		{"sp not for itself", map[string]string{"example.org": "v=DMARC1; p=none; sp=reject"}, "example.org", none, "example.org", false},
		{"np, exists", map[string]string{"example.org": "v=DMARC1; p=none; sp=quarantine; np=reject"}, "a.example.org", quarantine, "example.org", false},
		{"np, does not exist", map[string]string{"example.org": "v=DMARC1; p=none; np=reject"}, "a.example.org", reject, "example.org", true},
		{"between", map[string]string{"b.example.org": "v=DMARC1; p=reject", "example.org": "v=DMARC1; p=none"}, "a.b.example.org", none, "example.org", false},
		{"psd=n between", map[string]string{"b.example.org": "v=DMARC1; p=reject; psd=n", "example.org": "v=DMARC1; p=none"}, "a.b.example.org", reject, "b.example.org", false},
		{"psd=y, organisation silent", map[string]string{"bank": "v=DMARC1; p=reject; psd=y"}, "a.example.bank", reject, "bank", false},
		{"psd=y, organisation speaks", map[string]string{"bank": "v=DMARC1; p=reject; psd=y", "example.bank": "v=DMARC1; p=none"}, "a.example.bank", none, "example.bank", false},
		{"psd=y, deeper speaks only", map[string]string{"bank": "v=DMARC1; p=reject; psd=y", "b.example.bank": "v=DMARC1; p=none"}, "a.b.example.bank", reject, "bank", false},
		{"suffix without psd, organisation speaks", map[string]string{"co.uk": "v=DMARC1; p=none", "example.co.uk": "v=DMARC1; p=reject"}, "a.example.co.uk", reject, "example.co.uk", false},
		{"suffix without psd, organisation silent", map[string]string{"co.uk": "v=DMARC1; p=reject; sp=quarantine"}, "a.example.co.uk", quarantine, "co.uk", false},
		{"the suffix itself", map[string]string{"bank": "v=DMARC1; p=reject; psd=y"}, "bank", reject, "bank", false},
		{"bad p", map[string]string{"example.org": "v=DMARC1; p=maybe; rua=mailto:a@example.org"}, "example.org", none, "example.org", false},
		{"bad sp", map[string]string{"example.org": "v=DMARC1; p=reject; sp=x"}, "example.org", none, "example.org", false},
		{"no p", map[string]string{"example.org": "v=DMARC1; rua=mailto:a@example.org"}, "example.org", none, "example.org", false},
		{"v not first", map[string]string{"example.org": "p=reject; v=DMARC1"}, "example.org", none, "", false},
		{"version in lower case", map[string]string{"example.org": "v=dmarc1; p=reject"}, "example.org", none, "", false},
		{"testing", map[string]string{"example.org": "v=DMARC1; p=reject; t=y"}, "example.org", reject, "example.org", false},
		{"suffix does not answer", map[string]string{"org": "SERVFAIL", "example.org": "v=DMARC1; p=reject"}, "a.example.org", reject, "example.org", false},
		{"literal", nil, "[192.0.2.1]", none, "", false},
	} {
		f := New(zone(tc.zone), func(context.Context, string) (bool, error) { return !tc.missing, nil })
		got, at, err := f.find(t.Context(), tc.domain)
		if err != nil || got != tc.want || at != tc.at {
			t.Errorf("%s: %s of %q, %v; want %s of %q", tc.name, got, at, err, tc.want, tc.at)
		}
	}
}

func TestTrouble(t *testing.T) {
	trouble := func(context.Context, string) (bool, error) { return false, txt.ErrTemporary }
	for name, z := range map[string]map[string]string{
		"own":          {"a.example.org": "SERVFAIL", "example.org": "v=DMARC1; p=none"},
		"organisation": {"example.org": "SERVFAIL"},
		"suffix":       {"org": "SERVFAIL"},
		"existence":    {"example.org": "v=DMARC1; p=none; np=reject"},
	} {
		if p, err := New(zone(z), trouble).Policy(t.Context(), "a.example.org"); !errors.Is(err, txt.ErrTemporary) || p != lists.DMARCNone {
			t.Errorf("%s: %s, %v", name, p, err)
		}
	}
}

// The walk asks eight questions at most, and none above a psd tag.
func TestQuestions(t *testing.T) {
	z := zone(nil)
	if _, err := New(z, nil).Policy(t.Context(), "a.b.c.d.e.f.g.h.i.mail.example.com"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.b.c.d.e.f.g.h.i.mail.example.com", "f.g.h.i.mail.example.com", "g.h.i.mail.example.com", "h.i.mail.example.com",
		"i.mail.example.com", "mail.example.com", "example.com", "com",
	}
	if d := cmp.Diff(want, z.names); d != "" {
		t.Error(d)
	}
	z = zone(map[string]string{"b.example.org": "v=DMARC1; psd=n"})
	if _, err := New(z, nil).Policy(t.Context(), "a.b.example.org"); err != nil || len(z.names) != 2 {
		t.Errorf("%v %v", z.names, err)
	}
}

type hosts struct {
	mx   []*net.MX
	host []string
	err  error
}

func (h hosts) LookupMX(context.Context, string) ([]*net.MX, error)  { return h.mx, h.err }
func (h hosts) LookupHost(context.Context, string) ([]string, error) { return h.host, h.err }

func TestExists(t *testing.T) {
	gone := &net.DNSError{IsNotFound: true}
	for i, tc := range []struct {
		h    hosts
		want string
	}{
		{hosts{mx: []*net.MX{{Host: "."}}}, "true <nil>"}, {hosts{host: []string{"192.0.2.1"}}, "true <nil>"},
		{hosts{err: gone}, "false <nil>"}, {hosts{}, "false <nil>"},
	} {
		ok, err := Exists(tc.h)(t.Context(), "example.org")
		if got := fmt.Sprint(ok, err); got != tc.want {
			t.Errorf("%d: %s", i, got)
		}
	}
	if _, err := Exists(hosts{err: errors.New("timeout")})(t.Context(), "example.org"); !errors.Is(err, txt.ErrTemporary) {
		t.Error(err)
	}
}

// The checks of the public suffix list, as far as the compiled-in list is as new as
// they are.
func TestOrganisation(t *testing.T) {
	f, err := os.Open("../../../../shared/corpora/psl/tests/test_psl.txt")
	if os.IsNotExist(err) {
		t.Skip("no checks of the public suffix list")
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		args, ok := strings.CutPrefix(lines.Text(), "checkPublicSuffix(")
		if !ok {
			continue
		}
		in, want, _ := strings.Cut(strings.TrimSuffix(args, ");"), ", ")
		in, want = strings.Trim(in, "'"), strings.Trim(want, "'")
		if in == "null" || strings.HasPrefix(in, ".") || strings.ToLower(in) != in || strings.ContainsFunc(in, func(r rune) bool { return r > 0x7f }) {
			continue // not a domain in lower case with A-labels
		}
		if want == "null" {
			want = ""
		}
		n++
		if got := organisation(in); got != want {
			t.Errorf("%s: %q, want %q (list of %s)", in, got, want, publicsuffix.List)
		}
	}
	if n < 50 {
		t.Errorf("only %d checks", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v=DMARC1; p=reject; sp=none; np=quarantine; psd=y; t=y; rua=mailto:a@b")
	f.Add("v=DMARC1;;p=;=;p=none")
	f.Fuzz(func(t *testing.T, s string) {
		r, ok := parse(s)
		if !ok {
			return
		}
		for _, p := range []lists.DMARCPolicy{r.p, r.sp, r.np} {
			if p != lists.DMARCNone && p != lists.DMARCQuarantine && p != lists.DMARCReject {
				t.Errorf("policy %q", p)
			}
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add("a.b.example.org", "example.org")
	f.Add(".", "..")
	f.Fuzz(func(t *testing.T, domain, at string) {
		z := zone(map[string]string{at: "v=DMARC1; p=reject; psd=y"})
		if _, err := New(z, nil).Policy(t.Context(), domain); err != nil || len(z.names) > 8 {
			t.Errorf("%q: %v, %d questions", domain, err, len(z.names))
		}
	})
}
