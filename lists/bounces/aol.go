package bounces

import "strings"

// aol reads AOL's notices that name mailboxes without their domain.
func aol(m *mail) []Result {
	if !m.fromDomain("aol.com") {
		return nil
	}
	i := m.after("following recipients could not be delivered", "not accepting mail from", "could not be delivered because")
	if i < 0 {
		return nil
	}
	var out []Result
	for _, l := range m.notice[i:] {
		name := strings.TrimSpace(l)
		if name == "" || strings.ContainsAny(name, " \t") || name[len(name)-1] == ':' {
			continue
		}
		if !strings.Contains(name, "@") {
			name += "@" + m.from.Domain()
		}
		if a, ok := parseAddress(name); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: m.lines(0, i)}, ""))
		}
	}
	return out
}
