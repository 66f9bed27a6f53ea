package bounces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"qrunner/lists/mailaddr"
)

func FuzzScan(f *testing.F) {
	f.Add([]byte(""))
	f.Add(report("message/delivery-status", "Final-Recipient: utf-8; \\x{110000}a\\x{@x.org\nAction: failed\nStatus: 5.1.1 (x)\n"))
	f.Add(report("message/feedback-report", "Feedback-Type: abuse\nOriginal-Rcpt-To: <a@x.org>\n"))
	f.Add(letter("From: MAILER-DAEMON@x.org\nSubject: failure notice", "<a@x.org>:\n550 no\n\n--- Below this line"))
	for _, pattern := range []string{"sisimai/bsd/lhost-[exsm]*-0[1-3].eml", "flufl.bounce/data/s*_0*"} {
		names, _ := filepath.Glob(filepath.Join(corpora, pattern))
		for _, n := range names {
			if raw, err := os.ReadFile(n); err == nil {
				f.Add(raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, Scan(raw)) })
}

// check holds what every report promises.
func check(t *testing.T, r Report) {
	t.Helper()
	seen := map[string]bool{}
	for _, x := range r.Recipients {
		if seen[x.Address.Key()] {
			t.Errorf("%s twice", x.Address)
		}
		seen[x.Address.Key()] = true
		if strings.ContainsAny(string(x.Address), "\r\n\x00") || !utf8.ValidString(string(x.Address)) {
			t.Errorf("address %q", x.Address)
		}
		if len(x.Diagnostic) > MaxDiagnostic || !utf8.ValidString(x.Diagnostic) || strings.ContainsAny(x.Diagnostic, "\r\n") {
			t.Errorf("diagnostic %q", x.Diagnostic)
		}
		if x.Class == "" || x.Reason == "" || x.Detector == "" || x.Policy != x.Reason.Policy() {
			t.Errorf("%+v", x)
		}
		if r.Kind != Bounce && (x.Class == Hard || x.Class == Soft) {
			t.Errorf("%s in %s", x.Class, r.Kind)
		}
	}
}

// FuzzDetectors gives each detector the same text, whoever seems to have sent it.
func FuzzDetectors(f *testing.F) {
	for _, s := range []string{"", "<a@x.org>:\n550 no", "following address(es) failed:\n  a@x.org\n    no", ">>> RCPT To:<a@x.org>\n<<< 550 no\n554 <a@x.org>... no",
		"Recipient: [SMTP:a@x.org]\n", "a@x.org X, ERROR_CODE :550, ERROR_CODE :5.1.1 no", "did not reach the following recipient(s):\nc=US;dda:SMTP=a@x.org; on",
		"Failure Reasons\nno\na@x.org", `{"notificationType":"Bounce","bounce":{"bouncedRecipients":[{"emailAddress":"a@x.org"}]}}`,
		"rejected recipient <a@x.org> (no)", "Sent <<< RCPT TO:<a@x.org>\nReceived >>> 550 no", "Reporting-MTA: x\n\nFinal-Recipient: rfc822; a@x.org\nStatus: 5.1.1",
		"message not delivered to the following:\n a\nphquery", "m-filter\na@x.org\n-server message\n550 no\n-smtp command\nDATA", "(generated from a@x.org",
		"a@x.org\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##", "[Status: Error, Address: <a@x.org>, ResponseCode 421, , no]",
		"could not be delivered to mobile\nRCPT TO: a@x.org", "mail to a@x.org was returned: user unknown", "退信：\n<a@x.org>:\n550 不存在"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, from := range []string{"MAILER-DAEMON@aol.com", "x@ezweb.ne.jp", "x@googlemail.com"} {
			m := read([]byte("From: " + from + "\nTo: ant-bounces@x.org\nX-Failed-Recipients: b@x.org\n\n" + text))
			for _, d := range detectors {
				for _, r := range m.finish(d.find(m), d.name) {
					if r.Address.Null() || strings.ContainsAny(string(r.Address), "\r\n\x00") {
						t.Errorf("%s: %q", d.name, r.Address)
					}
				}
			}
		}
	})
}

func FuzzClassifyReply(f *testing.F) {
	f.Add(550, "5.1.1", "550-5.1.1 <a@x.org> no such user\n550 5.1.1 see http://x.org")
	f.Add(421, "", "")
	f.Fuzz(func(t *testing.T, code int, enhanced, text string) {
		c, r := ClassifyReply(code, enhanced, text)
		if r == "" || c == "" || code/100 == 4 && c == Hard {
			t.Errorf("%d %q %q: %s %s", code, enhanced, text, c, r)
		}
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("utf-8; \\x{434}@x.org (x)")
	f.Add("rfc822;a+2Bb@x.org")
	f.Fuzz(func(t *testing.T, s string) {
		if a, ok := typedAddress(unXtext(s)); ok && (a.Null() || !strings.Contains(string(a), "@")) {
			t.Errorf("%q: %q", s, a)
		}
		if a, _, ok := leadAddress(s); ok {
			if _, err := mailaddr.Parse(string(a)); err != nil && !strings.Contains(a.Local(), ".") {
				t.Errorf("%q: %q: %v", s, a, err)
			}
		}
	})
}
