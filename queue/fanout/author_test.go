package fanout

import (
	"testing"

	"qrunner/lists/message"
)

func TestAuthor(t *testing.T) {
	for head, want := range map[string]string{
		"From: anne@example.org": "anne@example.org",
		"From: Anne via Ant <ant@example.com>\r\nReply-To: Anne <anne@example.org>": "anne@example.org",
		"From: ant@example.com\r\nReply-To: ant@example.com, anne@example.org":      "anne@example.org",
		"From: ant@example.com\r\nReply-To: ant@example.com":                        "",
		"From: ant-man@example.org":                                                 "ant-man@example.org",
		"From: ant-owner@example.com":                                               "",
		"From: a@example.org, b@example.org":                                        "",
		"From: anne@example.org\r\nAuto-Submitted: auto-generated":                  "",
		"From: anne@example.org\r\nAuto-Submitted: no":                              "anne@example.org",
		"Subject: x": "",
	} {
		if got := author(ant, message.Parse([]byte(head+"\r\n\r\n"))); string(got) != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}
