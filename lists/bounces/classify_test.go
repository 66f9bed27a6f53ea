package bounces

import "testing"

func TestClassifyReply(t *testing.T) {
	tests := []struct {
		code     int
		enhanced string
		text     string
		class    Class
		reason   Reason
	}{
		{250, "2.1.5", "OK", None, Delivered},
		{550, "5.1.1", "User unknown in virtual mailbox table", Hard, UserUnknown},
		{550, "", "No such user here", Hard, UserUnknown},
		{550, "", "Requested action not taken: mailbox unavailable", Hard, UserUnknown},
		{450, "4.1.1", "User unknown in virtual alias table", Soft, UserUnknown},
		{550, "5.1.1", "The email account that you tried to reach does not exist. Please try\ndouble-checking the recipient's email address", Hard, UserUnknown},
		{550, "5.2.1", "The email account that you tried to reach is disabled", Soft, Suspend},
		{550, "5.2.1", "The user you are trying to contact is receiving mail at a rate that\nprevents additional messages from being delivered.", Soft, Speeding},
		{452, "4.2.2", "The email account that you tried to reach is over quota and inactive", Soft, MailboxFull},
		{552, "5.2.2", "Mailbox full", Soft, MailboxFull},
		{552, "", "Requested mail action aborted: exceeded storage allocation", Soft, MailboxFull},
		{552, "5.3.4", "Message size exceeds fixed limit", Soft, MesgTooBig},
		{552, "", "", Soft, MailboxFull},
		{550, "5.7.26", "Unauthenticated email from example.org is not accepted due to domain's DMARC policy", Soft, AuthFailure},
		{550, "5.7.1", "Email rejected per DMARC policy for example.org", Soft, AuthFailure},
		{550, "5.7.509", "Access denied, sending domain [X] does not pass DMARC verification", Soft, AuthFailure},
		{550, "5.7.1", "Service unavailable; client [192.0.2.1] blocked using Spamhaus", Soft, Blocked},
		{550, "5.7.1", "Our system has detected that this message is likely unsolicited mail", Soft, SpamDetected},
		{554, "5.7.9", "Message not accepted for policy reasons. See https://senders.yahooinc.com/error-codes", Soft, PolicyViolation},
		{421, "4.7.0", "[TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints", Soft, BadReputation},
		{451, "4.7.650", "The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation", Soft, BadReputation},
		{550, "5.4.1", "Recipient address rejected: Access denied. [X.protection.outlook.com]", Hard, UserUnknown},
		{554, "5.7.1", "<bart@example.org>: Relay access denied", Soft, NoRelaying},
		{556, "5.1.10", "Recipient domain has null MX", Hard, NotAccept},
		{550, "5.1.2", "Host unknown", Hard, HostUnknown},
		{551, "5.1.6", "User has moved to new address", Hard, HasMoved},
		{550, "", "Benutzer hat zuviele Mails auf dem Server.", Soft, MailboxFull},
		{550, "", "Empfänger unbekannt", Hard, UserUnknown},
		{550, "", "пользователь не найден", Hard, UserUnknown},
		{550, "", "Adresse d au moins un destinataire invalide. OFR_416", Hard, UserUnknown},
		{550, "", "ユーザが存在しません", Hard, UserUnknown},
		{550, "5.7.1", "", Soft, SecurityErr},
		{450, "4.2.0", "Greylisted, please come back later", Soft, Filtered},
		{550, "", "Go elsewhere", Soft, OnHold},
		{550, "", "", Soft, OnHold},
	}
	for _, tt := range tests {
		class, reason := ClassifyReply(tt.code, tt.enhanced, tt.text)
		if class != tt.class || reason != tt.reason {
			t.Errorf("%d %s %q: %s %s, want %s %s", tt.code, tt.enhanced, tt.text, class, reason, tt.class, tt.reason)
		}
	}
}

func TestCodes(t *testing.T) {
	for in, want := range map[string]struct {
		reply  int
		status string
	}{
		"550 5.1.1 no":                          {550, "5.1.1"},
		"550-5.7.26 This":                       {550, "5.7.26"},
		"smtp;550 #5.2.2":                       {550, "5.2.2"},
		"host x[192.0.2.55] said: 450 4.2.2 <a": {450, "4.2.2"},
		"at 5.1.1.1 port 550x":                  {0, ""},
		"(#5.4.4)":                              {0, "5.4.4"},
		"failed 5.1.1.":                         {0, "5.1.1"},
		"554: 5.2.2.":                           {554, "5.2.2"},
		"1550 599":                              {0, ""},
		"":                                      {0, ""},
	} {
		if reply, status := codes(in); reply != want.reply || status != want.status {
			t.Errorf("codes(%q) = %d %q, want %d %q", in, reply, status, want.reply, want.status)
		}
	}
}

func TestLeadAddress(t *testing.T) {
	for in, want := range map[string]string{
		"<bart@example.org>: no":              "bart@example.org",
		"  * bart@example.org":                "bart@example.org",
		"bart@example.org:":                   "bart@example.org",
		`"bart@example.org":`:                 "bart@example.org",
		"bart@example.org... no":              "bart@example.org",
		"[SMTP:bart@example.org]":             "bart@example.org",
		"bart@example.org<mailto:b@x.org>":    "bart@example.org",
		`<"b a"@example.org>:`:                `"b a"@example.org`,
		"<no-at-sign>:":                       "",
		"http://example.org/@x":               "",
		"host mx.example.org said bart@x.org": "",
		"<>":                                  "",
		"@":                                   "",
		"bart@localhost":                      "",
	} {
		if a, _, ok := leadAddress(in); string(a) != want || ok != (want != "") {
			t.Errorf("leadAddress(%q) = %q, %v", in, a, ok)
		}
	}
}

// TestPhrases: every phrase is in the form that squeeze gives texts, else it never
// matches; and the rows above do not take it away entirely.
func TestPhrases(t *testing.T) {
	for _, row := range phrases {
		for _, p := range row.text {
			if h := newHaystack(squeeze("x " + p + " y")); !h.has(p) {
				t.Errorf("%s: %q is never found in %q", row.reason, p, h.text)
			}
		}
	}
}
