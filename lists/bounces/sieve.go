package bounces

// sieve reads reject of Sieve (RFC 5429) sent as a disposition notification: "Your
// message to <address> was automatically rejected:".
func sieve(m *mail) []Result {
	if len(m.mdn) == 0 || !m.has("was automatically rejected") {
		return nil
	}
	text := m.textFrom(0)
	for _, part := range m.mdn {
		for _, g := range readGroups(part) {
			if a, ok := m.reportedAddress(g); ok {
				return []Result{m.verdict(a, evidence{text: text}, "")}
			}
		}
	}
	return nil
}
