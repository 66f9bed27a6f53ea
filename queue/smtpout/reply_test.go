package smtpout

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"qrunner/queue"
)

func read(s string) (answer, *bufio.Reader, error) {
	r := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(s)), maxReplyLine)
	a, err := readAnswer(r, nil)
	return a, r, err
}

func TestReadAnswer(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want queue.Reply
	}{
		{"250 ok\r\n", queue.Reply{Code: 250, Text: "ok"}},
		{"250\r\n", queue.Reply{Code: 250}},
		{"250 \r\n", queue.Reply{Code: 250}},
		{"250 bare line feed\n", queue.Reply{Code: 250, Text: "bare line feed"}},
		{"550 5.1.1 <a@b>: unknown\r\n", queue.Reply{Code: 550, Enhanced: "5.1.1", Text: "<a@b>: unknown"}},
		{"550 5.1.1\r\n", queue.Reply{Code: 550, Enhanced: "5.1.1"}},
		{"450 4.123.456 x\r\n", queue.Reply{Code: 450, Enhanced: "4.123.456", Text: "x"}},
		{"550-5.1.1 one\r\n550-5.1.1 two\r\n550 three\r\n", queue.Reply{Code: 550, Enhanced: "5.1.1", Text: "one / two / three"}},
		{"550 4.1.1 other class\r\n", queue.Reply{Code: 550, Text: "4.1.1 other class"}},
		{"550 5.1.1.1 four\r\n", queue.Reply{Code: 550, Text: "5.1.1.1 four"}},
		{"550 5.1234.1 long\r\n", queue.Reply{Code: 550, Text: "5.1234.1 long"}},
		{"550 5..1 gap\r\n", queue.Reply{Code: 550, Text: "5..1 gap"}},
		{"550 55.1.1 two digits\r\n", queue.Reply{Code: 550, Text: "55.1.1 two digits"}},
		{"250 a\x00b\tc\x1b[2Jd\r\n", queue.Reply{Code: 250, Text: "a b c [2Jd"}},
	} {
		a, _, err := read(tt.in)
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if d := cmp.Diff(tt.want, a.reply("")); d != "" {
			t.Errorf("%q: %s", tt.in, d)
		}
	}
}

func TestReadAnswerRefuses(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", io.EOF},
		{"25", io.ErrUnexpectedEOF},
		{"250 ok", io.ErrUnexpectedEOF},
		{"250-more\r\n", io.ErrUnexpectedEOF},
		{"\r\n", errNotSMTP},
		{"2x0 ok\r\n", errNotSMTP},
		{"150 preliminary\r\n", errNotSMTP},
		{"650 what\r\n", errNotSMTP},
		{"250ok\r\n", errNotSMTP},
		{"2500 ok\r\n", errNotSMTP},
		{"HTTP/1.1 400 Bad Request\r\n", errNotSMTP},
		{"250-one\r\n550 two\r\n", errNotSMTP},
		{"250 " + strings.Repeat("x", maxReplyLine) + "\r\n", errNotSMTP},
		{strings.Repeat("250-x\r\n", maxReplyLines) + "250 x\r\n", errNotSMTP},
	} {
		if _, _, err := read(tt.in); !errors.Is(err, tt.want) {
			t.Errorf("%.40q: %v, want %v", tt.in, err, tt.want)
		}
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"250 ok\r\n", "250\n", "550-5.1.1 a\r\n550 5.1.1 b\r\n", "220-\r\n220 \r\n", "250-a\r\n550 b\r\n",
		"354 go\r\n250 more", "421 4.4.2 \xff\x00\x7f\r\n", "HTTP/1.1 400\r\n", "250-" + strings.Repeat("x", 3000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(in), maxReplyLine)
		a, err := readAnswer(r, nil)
		if err != nil {
			return
		}
		if a.code < 200 || a.code > 599 {
			t.Fatalf("code %d", a.code)
		}
		p := a.reply(queue.PhaseRcpt)
		// Cutting at the limit may leave half a character, which is replaced.
		if len(p.Text) > maxReplyText || !utf8.ValidString(p.Text) || strings.ContainsAny(p.Text, "\r\n\x00") {
			t.Fatalf("text %q", p.Text)
		}
		if p.Enhanced != "" && int(p.Enhanced[0]-'0') != a.code/100 {
			t.Fatalf("enhanced %q of %d", p.Enhanced, a.code)
		}
		rest, _ := io.ReadAll(r)
		used := in[:len(in)-len(rest)]
		if !bytes.HasSuffix(used, []byte("\n")) {
			t.Fatalf("stopped within a line: %q", used)
		}
		parseExtensions(a.lines)
	})
}

func TestParseExtensions(t *testing.T) {
	got := parseExtensions([]byte("PIPELINING\npipelining\nSize 1000\n8bitmime\nAUTH=LOGIN\nAUTH PLAIN CRAM-MD5\nX-WHAT\n\nSMTPUTF8\nSTARTTLS"))
	want := extensions{pipelining: true, eightBit: true, utf8: true, startTLS: true, size: true, limit: 1000,
		auth: []string{"LOGIN", "PLAIN", "CRAM-MD5"}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(extensions{})); d != "" {
		t.Error(d)
	}
	for _, s := range []string{"x\nSIZE", "x\nSIZE -5", "x\nSIZE 99999999999999999999", "x\nSIZE abc", "x\nSIZE 0"} {
		if e := parseExtensions([]byte(s)); !e.size || e.limit != 0 {
			t.Errorf("%q: %+v", s, e)
		}
	}
}
