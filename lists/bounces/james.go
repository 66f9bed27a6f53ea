package bounces

import "strings"

// james reads Apache James: the error, the reply, then "RCPT TO: address".
func james(m *mail) []Result {
	i := m.after("error message below:")
	if i < 0 || !m.has("rcpt to:") {
		return nil
	}
	var out []Result
	for k, l := range m.low {
		if at := strings.Index(l, "rcpt to:"); at >= 0 {
			if a, ok := m.addressIn(m.notice[k][at+len("rcpt to:"):]); ok {
				out = append(out, m.verdict(a, evidence{text: m.lines(i, i+2)}, ""))
			}
		}
	}
	return out
}
