package bounces

import "strings"

// mailEnable reads "Recipient: [SMTP:address]" and "Reason: ...".
func mailEnable(m *mail) []Result {
	if !m.has("recipient: [smtp:") {
		return nil
	}
	var out []Result
	for i, l := range m.low {
		k := strings.Index(l, "recipient: [smtp:")
		if k < 0 {
			continue
		}
		if a, _, ok := leadAddress(m.notice[i][k+len("recipient: "):]); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: m.lines(i+1, i+3)}, ""))
		}
	}
	return out
}
