package bounces

import "strings"

// iMail reads Ipswitch IMail and SMTP32: "what: address" lines, the dialogue below.
func iMail(m *mail) []Result {
	if !strings.Contains(m.subject, "undeliverable mail") && !strings.Contains(strings.ToLower(m.head.Get("X-Mailer")), "smtp32") {
		return nil
	}
	var out []Result
	for i, l := range m.low {
		what, _, ok := strings.Cut(l, ": ")
		k := len(what) + 2
		if !ok {
			for _, p := range []string{"undeliverable to ", "undeliverable  to "} {
				if at := strings.Index(l, p); at >= 0 {
					what, k, ok = l[at:], at+len(p), true
				}
			}
		}
		if !ok || k > len(m.notice[i]) || !failure(what) && !strings.HasPrefix(what, "undeliverable") && !strings.HasPrefix(what, "delivery failed") {
			continue
		}
		a, _, ok := leadAddress(m.notice[i][k:])
		if !ok || m.addressed(a) {
			continue
		}
		end := i + 1
		for end < len(m.low) && end < i+8 && !strings.Contains(m.low[end], ": "+a.Key()) && !strings.HasPrefix(m.low[end], "unknown user") {
			end++
		}
		text := m.lines(i, end)
		r := m.verdict(a, evidence{text: text}, "")
		if r.Reason == OnHold {
			r = m.verdict(a, evidence{text: what}, "")
		}
		out = append(out, r)
	}
	return out
}
