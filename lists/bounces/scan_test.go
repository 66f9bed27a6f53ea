package bounces

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"qrunner/lists/mailaddr"
)

// verdict is what matters of a result.
type verdict struct {
	Address   mailaddr.Address
	Class     Class
	Permanent bool
	Reason    Reason
}

func verdicts(r Report) []verdict {
	var out []verdict
	for _, x := range r.Recipients {
		out = append(out, verdict{x.Address, x.Class, x.Permanent, x.Reason})
	}
	return out
}

// letter makes a message of header lines and a body.
func letter(header, body string) []byte {
	return []byte(strings.ReplaceAll(header+"\nDate: Mon, 01 Jan 2024 10:00:00 +0000\n\n"+body, "\n", "\r\n"))
}

// report makes a multipart/report with one machine-readable part.
func report(media, fields string) []byte {
	return letter("From: MAILER-DAEMON@mx.example.net\nTo: ant-bounces@lists.example.com\nSubject: Undelivered\n"+
		"MIME-Version: 1.0\nContent-Type: multipart/report; boundary=b",
		"--b\nContent-Type: text/plain\n\nSorry.\n--b\nContent-Type: "+media+"\n\n"+fields+"\n--b--\n")
}

func TestScan(t *testing.T) {
	const daemon = "From: MAILER-DAEMON@mx.example.net\nTo: ant-bounces@lists.example.com\nSubject: failure notice"
	tests := []struct {
		name string
		raw  []byte
		kind Kind
		want []verdict
	}{
		{"several actions", report("message/delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@x.org\nAction: failed\nStatus: 5.1.1\n\n"+
			"Final-Recipient: rfc822; b@x.org\nAction: relayed\nStatus: 2.0.0\n\nFinal-Recipient: rfc822; c@x.org\nAction: Expanded\n\n"+
			"final-recipient: RFC822;d@x.org\naction: delayed\nstatus: 4.4.1\n\nFinal-Recipient: rfc822; e@x.org\nAction: failed\nStatus: 4.4.7\n"), Bounce,
			[]verdict{{"a@x.org", Hard, true, UserUnknown}, {"b@x.org", None, false, Delivered}, {"c@x.org", None, false, Delivered},
				{"d@x.org", Soft, false, Expired}, {"e@x.org", Soft, true, Expired}}},
		{"original recipient, xtext", report("message/delivery-status", "Reporting-MTA: dns; mx\n\nOriginal-Recipient: rfc822;e+2Btag@x.org\n"+
			"Final-Recipient: rfc822; other@y.org\nAction: failed\nStatus: 5.2.2\n"), Bounce, []verdict{{"e+tag@x.org", Soft, true, MailboxFull}}},
		{"RFC 6533", report("message/global-delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: utf-8; дора@example.org\nAction: failed\nStatus: 5.1.1\n\n"+
			`Final-Recipient: utf-8; \x{434}\x{43E}@example.org`+"\nAction: failed\nStatus: 5.1.1\n"), Bounce,
			[]verdict{{"дора@example.org", Hard, true, UserUnknown}, {"до@example.org", Hard, true, UserUnknown}}},
		{"DMARC refusal", report("message/delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@gmail.com\nAction: failed\nStatus: 5.7.26\n"+
			"Diagnostic-Code: smtp; 550-5.7.26 Unauthenticated email from example.org is not accepted due to\n 550 5.7.26 domain's DMARC policy."), Bounce,
			[]verdict{{"a@gmail.com", Soft, true, AuthFailure}}},
		{"report without boundary", letter(daemon+"\nContent-Type: multipart/report; boundary=lost",
			"--other\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@x.org\nAction: failed\nStatus: 5.1.1\n"), Bounce,
			[]verdict{{"a@x.org", Hard, true, UserUnknown}}},
		{"report inside a report", letter(daemon+"\nContent-Type: multipart/mixed; boundary=o", "--o\nContent-Type: message/rfc822\n\n"+
			string(report("message/delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@x.org\nAction: failed\nStatus: 5.1.1\n"))+"\n--o--\n"), Bounce,
			[]verdict{{"a@x.org", Hard, true, UserUnknown}}},
		{"the list's own address", letter(daemon, "Hi. This is the mail program.\n\n<ant@lists.example.com>:\nno such user\n\n<bart@example.org>:\nno such user\n"), Bounce,
			[]verdict{{"bart@example.org", Hard, true, UserUnknown}}},
		{"quoted addresses", letter(daemon, "Hi.\n\n<bart@example.org>:\nmailbox full, ask cora@example.org\n<dora@example.org>: said nothing\n\n"+
			"--- Below this line is a copy of the message.\n\n<emil@example.org>:\nno such user\n"), Bounce, []verdict{{"bart@example.org", Soft, true, MailboxFull}}},
		{"vacation", letter("From: bart@example.org\nTo: ant-bounces+bart=example.org@lists.example.com\nSubject: Out of office: hello",
			"I'm out of the office. Mail to <cora@example.org>: she is there.\n"), AutoReply, []verdict{{"bart@example.org", None, false, Vacation}}},
		{"a letter", letter("From: bart@example.org\nTo: ant-bounces@lists.example.com\nSubject: Re: Undeliverable: hello", "<cora@example.org>: user unknown, they say\n"), NotABounce, nil},
		{"read receipt", letter("From: bart@example.org\nTo: ant-bounces@lists.example.com\nSubject: Read: hello\nContent-Type: multipart/report; boundary=b",
			"--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; bart@example.org\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n"),
			AutoReply, []verdict{{"bart@example.org", None, false, Vacation}}},
		{"complaint by VERP", letter("From: fbl@example.net\nTo: abuse@lists.example.com\nSubject: complaint\nContent-Type: multipart/report; boundary=b",
			"--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nVersion: 1\nOriginal-Mail-From: <ant-bounces+bart=example.org@lists.example.com>\n--b--\n"),
			Complaint, []verdict{{"bart@example.org", Complained, false, Feedback}}},
		{"German in Latin-1", letter(daemon+"\nContent-Type: text/plain; charset=iso-8859-1", latin1("<bart@example.org>:\n550 Empfänger unbekannt (in reply to RCPT TO command)\n")), Bounce,
			[]verdict{{"bart@example.org", Hard, true, UserUnknown}}},
		{"Russian, wrong charset", letter(daemon+"\nContent-Type: text/plain; charset=us-ascii", "<bart@example.org>:\nпочтовый ящик переполнен\n"), Bounce,
			[]verdict{{"bart@example.org", Soft, true, MailboxFull}}},
		{"Japanese in ISO-2022-JP", letter(daemon+"\nContent-Type: text/plain; charset=iso-2022-jp", jis("<bart@example.org>:\nユーザが存在しません\n")), Bounce,
			[]verdict{{"bart@example.org", Hard, true, UserUnknown}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Scan(tt.raw)
			if got.Kind != tt.kind {
				t.Errorf("%s, want %s", got.Kind, tt.kind)
			}
			if d := cmp.Diff(tt.want, verdicts(got)); d != "" {
				t.Errorf("%s\n%+v", d, got)
			}
		})
	}
}

func latin1(s string) string {
	out, err := charmap.ISO8859_1.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

func jis(s string) string {
	out, err := japanese.ISO2022JP.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

func TestScanTo(t *testing.T) {
	raw := report("message/delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; elsewhere@y.org\nAction: failed\nStatus: 5.1.1\n")
	got := ScanTo(raw, "bart=example.org")
	if len(got.Recipients) != 1 || got.Recipients[0].Address != "bart@example.org" || got.Recipients[0].Alias != "elsewhere@y.org" || got.Recipients[0].Class != Hard {
		t.Errorf("%+v", got)
	}
	sender := mailaddr.EncodeVERP("ant-bounces@lists.example.com", `"b a"@example.org`, 7)
	_, extra, _ := strings.Cut(sender.Local(), "+")
	got = ScanTo(raw, extra)
	if got.VERP.Member != 7 || !got.VERP.Names(`"b a"@example.org`) || len(got.Recipients) != 1 || got.Recipients[0].Class != Hard {
		t.Errorf("token: %+v", got)
	}
	if got = ScanTo(raw, ""); got.Recipients[0].Address != "elsewhere@y.org" {
		t.Errorf("no VERP: %+v", got)
	}
}

// TestHuge: of a huge report only the head is read.
func TestHuge(t *testing.T) {
	raw := report("message/delivery-status", "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; a@x.org\nAction: failed\nStatus: 5.1.1\n")
	raw = append(raw, bytes.Repeat([]byte("<b@x.org>: no such user\r\n\r\n"), 4<<20/26*25)...)
	if d := cmp.Diff([]verdict{{"a@x.org", Hard, true, UserUnknown}}, verdicts(Scan(raw))); d != "" {
		t.Error(d)
	}
	many := append(letter("From: MAILER-DAEMON@x.org\nTo: ant-bounces@lists.example.com\nSubject: failure notice", ""),
		bytes.Repeat([]byte("<b@x.org>:\r\nno such user\r\n\r\n"), 1<<20)...)
	if got := Scan(many); len(got.Recipients) != 1 {
		t.Errorf("%d recipients", len(got.Recipients))
	}
}

func TestReproducers(t *testing.T) {
	for name, want := range map[string][]verdict{
		"027-verp-vacation.eml": {{"bart@example.org", None, false, Vacation}},
		"028-dsn-mixed-actions.eml": {{"anne@example.org", Hard, true, UserUnknown}, {"bart@example.org", Soft, false, MailboxFull},
			{"cris@example.com", None, false, Delivered}, {"dora@example.org", Hard, true, UserUnknown}, {"emil+tag@example.org", Hard, true, UserUnknown}},
		"029-heuristic-bounce-garbage.eml": {{"bart@example.org", Hard, true, UserUnknown}},
	} {
		raw, err := os.ReadFile(filepath.Join(corpora, "../repro", name))
		if err != nil {
			t.Skip("no reproducers beside the tree")
		}
		if d := cmp.Diff(want, verdicts(Scan(raw))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		auto := bytes.Replace(raw, []byte("Subject:"), []byte("Auto-Submitted: auto-replied\r\nSubject:"), 1)
		if d := cmp.Diff(want, verdicts(Scan(auto))); d != "" {
			t.Errorf("%s, marked as automatic: %s", name, d)
		}
	}
}

// What has no header is no mail, and so no bounce.
func TestNoHeader(t *testing.T) {
	for _, text := range []string{
		"", "\n", "#!/bin/sh\nset -e\necho hello\n", "\x00\xff\x17\x9a\x01octets\n\xfe", "a line\nFinal-Recipient: rfc822; x@example.org\n",
		"\nThe user you tried to reach is unknown: <x@example.org>: 550 5.1.1 no such user\n",
	} {
		if r := Scan([]byte(text)); r.Kind != NotABounce || len(r.Recipients) > 0 {
			t.Errorf("%q: %+v", text, r)
		}
	}
}
