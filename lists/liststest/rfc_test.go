package liststest_test

import (
	"strings"
	"testing"

	"qrunner/lists/liststest"
)

const good = "From: a@x.org\r\nDate: Mon, 01 Jan 2024 10:00:00 +0000\r\nMessage-ID: <1@x.org>\r\nX-BeenThere: ant@x.org\r\n" +
	"List-Id: \"Ants\" <ant.x.org>\r\nList-Post: NO\r\nList-Help: <mailto:ant-request@x.org?subject=help>\r\n"

func TestBreaksRFC(t *testing.T) {
	for _, tc := range []struct{ head, body, want string }{
		{good, "x\r\n", ""},
		{good, "x\ny\r\n", "RFC 5321 2.3.8"},
		{good, strings.Repeat("x", 999) + "\r\n", "RFC 5322 2.1.1"},
		{good + "Subject: " + strings.Repeat("x", 999) + "\r\n", "", "RFC 5322 2.1.1"},
		{good + "From: b@x.org\r\n", "", "RFC 5322 3.6"},
		{good + "Subject: a\r\nSubject: b\r\n", "", "RFC 5322 3.6"},
		{good + "Subject: =?utf-8?q?" + strings.Repeat("x", 70) + "?=\r\n", "", "RFC 2047 2"},
		{good + "To: nobody in particular\r\n", "", "RFC 5322 3.4"},
		{good + "no field\r\n", "", "RFC 5322 2.2"},
		{good + "List-Id: <b.x.org>\r\n", "", "RFC 2919 3"},
		{strings.Replace(good, "ant.x.org", "ant x.org", 1), "", "RFC 2919 2"},
		{strings.Replace(good, `"Ants" <ant.x.org>`, "(Ants) <ant.x.org>", 1), "", "RFC 2919 2"},
		{good + "List-Owner: mailto:a@x.org\r\n", "", "RFC 2369 2"},
		{good + "List-Owner: <mailto:a@x.org>\r\nList-Owner: <mailto:a@x.org>\r\n", "", "RFC 2369 3"},
		{good + "List-Unsubscribe: <mailto:a@x.org>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n", "", "RFC 8058 3.1"},
		{good + "List-Unsubscribe: <https://x.org/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nDKIM-Signature: v=1; h=from:list-unsubscribe; b=x\r\n", "", "RFC 8058 4"},
		{good + "List-Unsubscribe: <https://x.org/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nDKIM-Signature: v=1; h=from:list-unsubscribe\r\n :list-unsubscribe-post; b=x\r\n", "", ""},
	} {
		got := strings.Join(liststest.BreaksRFC([]byte(tc.head+"\r\n"+tc.body), nil), "\n")
		if !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%q %.40q: %s, want %q", strings.TrimPrefix(tc.head, good), tc.body, got, tc.want)
		}
		if tc.body != "" && strings.HasPrefix(tc.want, "RFC 5322 2.1.1") {
			if got := liststest.BreaksRFC([]byte(tc.head+"\r\n"+tc.body), []byte(tc.body)); len(got) > 0 {
				t.Errorf("the author's own line: %s", got)
			}
		}
	}
}
