package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// codes finds the first SMTP reply code (4yz or 5yz, else 0) and the first enhanced
// status code (RFC 3463, else "") in a text.
func codes(text string) (reply int, status string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < '2' || c > '5' || c == '3' || i > 0 && wordByte(text[i-1]) {
			continue
		}
		if status == "" {
			status = statusAt(text[i:])
		}
		if reply == 0 && c != '2' && replyAt(text[i:]) {
			reply = int(c-'0')*100 + int(text[i+1]-'0')*10 + int(text[i+2]-'0')
		}
		if reply != 0 && status != "" {
			break
		}
	}
	return reply, status
}

// wordByte: an octet that a code cannot stand right behind.
func wordByte(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '@' || c == '/'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// replyAt reports whether s starts with a reply code: three digits of the ranges of
// RFC 5321 §4.2, then no part of a word or number.
func replyAt(s string) bool {
	if len(s) < 3 || s[1] > '7' || !digit(s[1]) || !digit(s[2]) {
		return false
	}
	return len(s) == 3 || strings.IndexByte(" \t\n-:;,>)]", s[3]) >= 0
}

// statusAt is the enhanced status code that s starts with, "" if it is none: three
// numbers, not four as in an IPv4 address.
func statusAt(s string) string {
	n := 1
	for range 2 {
		if n >= len(s) || s[n] != '.' {
			return ""
		}
		start := n + 1
		for n = start; n < len(s) && digit(s[n]); n++ {
		}
		if n == start || n > start+3 {
			return ""
		}
	}
	if n < len(s) && (wordByte(s[n]) && !(s[n] == '.' && (n+1 == len(s) || !digit(s[n+1])))) {
		return ""
	}
	return s[:n]
}

// specific reports whether a status says more than its class.
func specific(status string) bool {
	return status != "" && !strings.HasSuffix(status, ".0.0")
}

// detail is a status without its class: "1.1" of 5.1.1.
func detail(status string) string {
	_, d, _ := strings.Cut(status, ".")
	return d
}

// FromReply is the result of one recipient's copy that our own smarthost's answer ended:
// reply is how queue.Reply writes it, "550 5.1.1 no such user" or, without a code, that
// none came. expired: the answer was temporary, and has been so for too long.
func FromReply(a mailaddr.Address, reply string, expired bool) Result {
	reply = strings.ToValidUTF8(reply, "?")
	code, status := codes(reply)
	if !replyAt(reply) {
		code, status = 0, ""
	}
	r := Result{Address: a, Class: Soft, Permanent: true, Reason: Expired, Status: status, Reply: code, Detector: "smtp"}
	if code != 0 {
		text := strings.TrimSpace(reply[3:])
		if status != "" {
			text = strings.TrimSpace(strings.TrimPrefix(text, status))
		}
		r.Class, r.Reason = ClassifyReply(code, status, text)
	}
	if expired {
		r.Class = Soft
		if r.Reason == Undefined || r.Reason == OnHold {
			r.Reason = Expired
		}
	}
	if detail(status) == "6.7" {
		r.Class = None // our smarthost lacks SMTPUTF8 (RFC 6531 §3.2): not the member's fault
	}
	r.Policy = r.Reason.Policy()
	r.Diagnostic = clipText(oneLine(reply), MaxDiagnostic)
	return r
}
