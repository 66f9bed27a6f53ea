package bounces

import "strings"

// verizon reads Verizon's gateway to phones: the recipient stands in a "To:" of its own.
func verizon(m *mail) []Result {
	if !m.has("could not be delivered to mobile") {
		return nil
	}
	for line := range strings.Lines(string(m.attached) + "\n" + clipText(string(m.head.Body()), maxNotice)) {
		name, to, _ := strings.Cut(line, ":")
		if name = strings.ToLower(strings.TrimSpace(name)); name != "to" && name != "rcpt to" {
			continue
		}
		if a, _, ok := leadAddress(strings.TrimSpace(to)); ok && !m.addressed(a) {
			return []Result{m.verdict(a, evidence{text: m.textFrom(0)}, "")}
		}
	}
	return nil
}
