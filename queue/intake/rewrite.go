package intake

import (
	"bytes"
	"slices"
	"strings"
)

// replyLine is the most octets of a reply with its CR LF (RFC 5321 §4.5.3.1.5).
const replyLine = 512

// rewrites puts right what go-smtp answers by itself, by the beginning of the line.
// An empty second column drops the line. The last row is the safety net of promise
// "no fault of ours becomes a bounce": 554 is what go-smtp makes of errors that it
// does not know, and nothing here answers so.
var rewrites = []struct{ from, to string }{
	{"502 5.5.1 Missing RCPT TO command.", "503 5.5.1 no accepted recipient"},
	{"502 5.5.1 Missing MAIL FROM command.", "503 5.5.1 MAIL comes first"},
	{"502 5.5.1 Please introduce yourself first.", "503 5.5.1 introduce yourself first"},
	{"500 5.4.0 Too long line", "500 5.5.2 command line too long"},
	{"250 2.0.0 Roger", "250 2.1.0 sender ok"},
	{"250 2.0.0 I'll make sure", "250 2.1.5 recipient ok"},
	{"250-CHUNKING", ""},
	{"554 ", "451 4.3.0 temporary trouble here, try again later"},
}

// rewrite takes the complete lines of out and returns what to send in their place,
// and the incomplete rest.
func rewrite(out []byte) (lines, rest []byte) {
	for {
		line, more, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return lines, out
		}
		out = more
		if s := better(strings.TrimRight(string(line), "\r")); s != "" {
			lines = append(lines, s[:min(len(s), replyLine-2)]...)
			lines = append(lines, "\r\n"...)
		}
	}
}

func better(line string) string {
	for _, r := range rewrites {
		if strings.HasPrefix(line, r.from) {
			return r.to
		}
	}
	return line
}

// isBDAT reports whether a command line is one of RFC 3030, which go-smtp would
// carry out.
func isBDAT(line []byte) bool {
	return len(line) >= 5 && strings.EqualFold(string(line[:4]), "BDAT") && line[4] <= ' '
}

// isNullMail reports whether a command line begins a report: MAIL with the null sender.
func isNullMail(line []byte) bool {
	const mail = "MAIL FROM:<>"
	return len(line) >= len(mail) && strings.EqualFold(string(line[:len(mail)]), mail)
}

// withoutSize takes the SIZE parameter (RFC 1870) off a command line. go-smtp would refuse
// a report by it, of which the beginning is enough.
func withoutSize(line []byte) []byte {
	words := strings.Split(strings.TrimRight(string(line), "\r\n"), " ")
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) > 5 && strings.EqualFold(w[:5], "SIZE=") })
	return []byte(strings.Join(words, " ") + "\r\n")
}
