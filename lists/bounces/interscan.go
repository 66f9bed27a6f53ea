package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// interScan reads InterScan: "Sent <<< RCPT TO:<address>" and "Received >>> 550 ...".
func interScan(m *mail) []Result {
	var out []Result
	var last mailaddr.Address
	for i, l := range m.low {
		switch {
		case strings.Contains(l, "sent <<< rcpt to:"):
			_, addr, _ := strings.Cut(l, "rcpt to:")
			last, _, _ = leadAddress(addr)
		case strings.Contains(l, "received >>> ") && !last.Null():
			_, said, _ := strings.Cut(m.notice[i], ">>> ")
			if code, _ := codes(said); code >= 400 && !m.addressed(last) {
				out = append(out, m.verdict(last, evidence{text: said, stage: stageRcpt}, ""))
				last = ""
			}
		case strings.Contains(l, "unable to deliver message to <"):
			_, addr, _ := strings.Cut(l, "message to ")
			if a, _, ok := leadAddress(addr); ok && !m.addressed(a) {
				r := m.verdict(a, evidence{text: m.notice[i]}, "")
				if r.Reason == OnHold && strings.Contains(l, "check if address is correct") {
					r.Reason, r.Class = UserUnknown, Hard
				}
				out = append(out, r)
			}
		}
	}
	return out
}
