package bounces

import "strings"

// x6 reads "SMTP Server <host> rejected recipient <address> (Error following RCPT
// command). It responded as follows: [550 ...]".
func x6(m *mail) []Result {
	var out []Result
	for i, l := range m.low {
		k := strings.Index(l, "rejected recipient <")
		if k < 0 {
			continue
		}
		if a, rest, ok := leadAddress(m.notice[i][k+len("rejected recipient "):]); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: rest}, ""))
		}
	}
	return out
}
