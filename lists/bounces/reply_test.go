package bounces

import (
	"testing"
	"unicode/utf8"
)

func TestFromReply(t *testing.T) {
	for _, tc := range []struct {
		reply   string
		expired bool
		class   Class
		reason  Reason
		policy  bool
		status  string
	}{
		{"550 5.1.1 no such user", false, Hard, UserUnknown, false, "5.1.1"},
		{"550 5.7.26 unauthenticated mail from example.org is not accepted due to the domain's DMARC policy", false, Soft, AuthFailure, true, "5.7.26"},
		{"552 5.2.2 mailbox full", false, Soft, MailboxFull, false, "5.2.2"},
		{"554 5.7.1 message looks like spam", false, Soft, SpamDetected, true, "5.7.1"},
		{"450 4.1.1 user unknown in virtual table", true, Soft, UserUnknown, false, "4.1.1"},
		{"451 4.3.0 try again", true, Soft, SystemErr, false, "4.3.0"},
		{"421 see you later", true, Soft, Expired, false, ""},
		{"no answer in phase rcpt: read: connection reset (550 bytes)", true, Soft, Expired, false, ""},
		{"", true, Soft, Expired, false, ""},
	} {
		r := FromReply("a@b.org", tc.reply, tc.expired)
		if r.Class != tc.class || r.Reason != tc.reason || r.Policy != tc.policy || r.Status != tc.status || !r.Permanent || r.Diagnostic != tc.reply {
			t.Errorf("%q: %+v", tc.reply, r)
		}
	}
}

func FuzzFromReply(f *testing.F) {
	f.Add("550 5.1.1 no such user", false)
	f.Add("450-4.2.2", true)
	f.Add("no answer in phase rcpt", true)
	f.Fuzz(func(t *testing.T, reply string, expired bool) {
		r := FromReply("a@b.org", reply, expired)
		if r.Reason == "" || r.Policy != r.Reason.Policy() || expired && r.Class == Hard || len(r.Diagnostic) > MaxDiagnostic || !utf8.ValidString(r.Diagnostic) {
			t.Errorf("%q: %+v", reply, r)
		}
	})
}

// TestSmarthostWithoutUTF8: what our own smarthost cannot do is no fault of a member's.
func TestSmarthostWithoutUTF8(t *testing.T) {
	r := FromReply("x@example.org", "550 5.6.7 the smarthost lacks SMTPUTF8", false)
	if r.Class != None {
		t.Errorf("class %s", r.Class)
	}
}

// TestFromReplyInSeveralLines: replies of several lines, and in other languages, count as
// the same words in a report do.
func TestFromReplyInSeveralLines(t *testing.T) {
	for reply, want := range map[string]Reason{
		"550 5.1.1 The email account that you tried to reach does not exist. Please try\ndouble-checking the recipient's email address": UserUnknown,
		"550 5.7.26 This mail has been blocked because the sender is unauthenticated.\nGmail requires all senders to authenticate":      AuthFailure,
		"550 Der Empfänger ist unbekannt: Benutzer unbekannt":                                                                           UserUnknown,
		"552 Boîte de réception pleine":                     MailboxFull,
		"550 Пользователь не найден":                        UserUnknown,
		"550 ユーザが存在しません":                                    UserUnknown,
		"550 5.7.1 Отклонено: письмо похоже на спам (spam)": SpamDetected,
	} {
		if r := FromReply("a@b.org", reply, false); r.Reason != want || r.Policy != want.Policy() {
			t.Errorf("%q: %s, policy %v", reply, r.Reason, r.Policy)
		}
	}
}
