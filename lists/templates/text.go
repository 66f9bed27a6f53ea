package templates

import (
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// Text is a template with its values.
type Text struct {
	Found
	// Subject is one line; empty for a piece of another message.
	Subject string
	// Body has LF for line ends.
	Body string
}

// maxLine is the longest line of RFC 5322 §2.1.1, in octets.
const maxLine = 998

// Message makes a mail of the text: From, To, Subject and the MIME fields. Date and
// Message-ID come with the queue virgin. auto is the value of Auto-Submitted
// (RFC 3834 §5): auto-replied for an answer, else auto-generated.
func (t Text) Message(from, to mailaddr.Address, auto string) *message.Message {
	m := message.Parse([]byte("MIME-Version: 1.0\r\n\r\n"))
	m.Set("From", string(from))
	m.Set("To", string(to))
	m.Set("Subject", message.EncodeHeader(t.Subject))
	m.Set("Auto-Submitted", auto)
	if t.Lang != "" {
		m.Set("Content-Language", strings.ReplaceAll(t.Lang, "_", "-"))
	}
	charset, encoding, body := Encode(t.Body)
	m.Set("Content-Type", "text/plain; charset="+charset)
	m.Set("Content-Transfer-Encoding", encoding)
	m.SetBody(body)
	return m
}

// Encode is a text as a MIME body: its charset, its transfer encoding, its octets.
// What is plain stays as it is; UTF-8 goes as it is too, unless a line is too long.
func Encode(text string) (charset, encoding string, body []byte) {
	body = []byte(strings.ReplaceAll(unix(text), "\n", "\r\n"))
	ascii, long := true, false
	for line := range strings.SplitSeq(string(body), "\r\n") {
		long = long || len(line) > maxLine
	}
	for _, c := range body {
		ascii = ascii && c < 0x80
	}
	charset, encoding = "us-ascii", "7bit"
	if !ascii {
		charset, encoding = "utf-8", "8bit"
	}
	if long {
		encoding, body = "quoted-printable", message.QuotedPrintable(body)
	}
	return charset, encoding, body
}
