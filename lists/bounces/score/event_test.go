package score

import (
	"strings"
	"testing"
	"unicode/utf8"

	"qrunner/lists/bounces"
)

func TestFromResult(t *testing.T) {
	for _, tc := range []struct {
		r    bounces.Result
		want Kind // "": no event
	}{
		{bounces.Result{Class: bounces.Hard, Permanent: true, Reason: bounces.UserUnknown, Status: "5.1.1"}, Hard},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Reason: bounces.MailboxFull, Status: "5.2.2"}, Soft},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Reason: bounces.MailboxFull, Status: "4.2.2"}, Expired},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Reason: bounces.Expired}, Expired},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Reason: bounces.UserUnknown, Reply: 450}, Expired},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Policy: true, Reason: bounces.AuthFailure, Status: "5.7.26"}, Policy},
		{bounces.Result{Class: bounces.Soft, Permanent: true, Policy: true, Reason: bounces.SpamDetected, Status: "4.7.1"}, Policy},
		{bounces.Result{Class: bounces.Soft, Policy: true, Reason: bounces.Blocked}, ""},
		{bounces.Result{Class: bounces.Soft, Reason: bounces.Expired, Status: "4.4.1"}, ""},
		{bounces.Result{Class: bounces.None, Permanent: true, Reason: bounces.Delivered}, ""},
		{bounces.Result{Class: bounces.None, Reason: bounces.Vacation}, ""},
		{bounces.Result{Class: bounces.Complained, Reason: bounces.Feedback}, Complaint},
	} {
		e, ok := FromResult(tc.r, at(0), 7)
		if ok != (tc.want != "") || e.Kind != tc.want {
			t.Errorf("%+v: %q, %v", tc.r, e.Kind, ok)
		}
		if ok && (!e.At.Equal(at(0)) || e.Post != 7 || !strings.HasPrefix(e.Why, string(tc.r.Reason))) {
			t.Errorf("%+v: %+v", tc.r, e)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("x\r\ny\x1b[2J")
	f.Add(strings.Repeat("ü", 150))
	f.Fuzz(func(t *testing.T, s string) {
		got := clip(s)
		if len(got) > maxWhy || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x1b\x00") || clip(got) != got {
			t.Errorf("%q: %q", s, got)
		}
	})
}
