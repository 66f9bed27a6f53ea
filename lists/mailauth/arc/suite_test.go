package arc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

// suite is ValiMail's ARC test suite.
const suite = "../../../../shared/corpora/arc_test_suite/tests"

type scenario struct {
	Description             string
	Tests                   yaml.Node // some names are there twice
	Domain, Sel, Privatekey string
	TXT                     map[string]string `yaml:"txt-records"`
	Records                 map[string]string `yaml:"txt_records"`
}

type suiteCase struct {
	name        string
	Message, CV string
	AS          string `yaml:"AS"`
	AMS         string `yaml:"AMS"`
	AAR         string `yaml:"AAR"`
	T           int64
	SigHeaders  string `yaml:"sig-headers"`
	SrvID       string `yaml:"srv-id"`
}

func (s scenario) cases(t *testing.T) []suiteCase {
	t.Helper()
	var out []suiteCase
	for i := 0; i < len(s.Tests.Content); i += 2 {
		c := suiteCase{name: s.Tests.Content[i].Value}
		if err := s.Tests.Content[i+1].Decode(&c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func (s scenario) dns() txt.Map {
	m := txt.Map{}
	for _, records := range []map[string]string{s.TXT, s.Records} {
		for name, v := range records {
			m[name] = []string{strings.ReplaceAll(v, "\n", "")}
		}
	}
	return m
}

func scenarios(t *testing.T, file string) []scenario {
	t.Helper()
	f, err := os.Open(filepath.Join(suite, file))
	if os.IsNotExist(err) {
		t.Skipf("no ARC test suite in %s", suite)
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []scenario
	for dec := yaml.NewDecoder(f); ; {
		var s scenario
		if err := dec.Decode(&s); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
}

// Where the suite expects nothing (the newest seal says cv=fail), the chain has failed.
func TestSuiteValidation(t *testing.T) {
	names := map[string]bool{}
	for _, s := range scenarios(t, "arc-draft-validation-tests.yml") {
		for _, tc := range s.cases(t) {
			names[tc.name] = true
			t.Run(tc.name, func(t *testing.T) {
				want := strings.ToLower(tc.CV)
				if want == "" {
					want = authres.Fail
				}
				v := Verify(t.Context(), message.Parse([]byte(tc.Message)), s.dns())
				if v.Status != want || (v.Err == nil) != (want != authres.Fail) {
					t.Errorf("%s, want %s: %v", v.Status, want, v.Err)
				}
			})
		}
	}
	if len(names) != 171 {
		t.Errorf("%d cases, want 171", len(names))
	}
}

func TestSuiteSigning(t *testing.T) {
	n := 0
	for _, s := range scenarios(t, "arc-draft-sign-tests.yml") {
		key, err := dkim.ParsePEM([]byte(s.Privatekey))
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range s.cases(t) {
			n++
			t.Run(tc.name, func(t *testing.T) {
				m := message.Parse([]byte(tc.Message))
				sealing := Sealing{
					Signer:  dkim.Signer{Domain: s.Domain, Selector: s.Sel, Key: key},
					Verdict: Verify(t.Context(), m, s.dns()),
					Names:   strings.Split(tc.SigHeaders, ":"),
					At:      time.Unix(tc.T, 0),
				}
				if r := authres.Of(m, tc.SrvID); len(r) == 1 {
					sealing.Results = r[0]
				}
				fields, err := Seal(m, canon.BodySum(m.Body(), canon.Relaxed), sealing)
				if err != nil {
					t.Fatal(err)
				}
				if len(fields) > 0 {
					fields[0] = resealed(t, m, sealing, fields)
				}
				got := map[string]string{}
				for _, f := range fields {
					got[f.Name] = shape(f.Value())
				}
				want := map[string]string{}
				for name, v := range map[string]string{fieldSeal: tc.AS, fieldMessage: tc.AMS, fieldResults: tc.AAR} {
					if v = shape(v); v != "" {
						want[name] = v
					}
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			})
		}
	}
	if n != 17 {
		t.Errorf("%d cases, want 17", n)
	}
}

// resealed checks the set and makes its seal again over a message signature whose b=
// is not folded: blanks in there count for the seal, and the suite has none.
func resealed(t *testing.T, m *message.Message, s Sealing, set []message.Field) message.Field {
	t.Helper()
	c, err := read(m)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := canon.ParseTags(rawValue(set[1]))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, tag := range tags {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(tag.Name + "=" + canon.NoBlanks(tag.Value))
	}
	cv := s.Verdict.Status
	flat := message.Field{Name: fieldMessage, Raw: []byte(fieldMessage + ": " + b.String() + "\r\n")}
	f, err := s.seal(c, cv, set[2], flat)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// shape takes blanks out, where two writers may differ.
func shape(v string) string { return strings.TrimSuffix(canon.NoBlanks(v), ";") }
