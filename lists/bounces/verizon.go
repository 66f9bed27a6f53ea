package bounces

// verizon reads Verizon's gateway to phones: the recipient stands in a "To:" of its own.
func verizon(m *mail) []Result {
	if !m.has("could not be delivered to mobile") {
		return nil
	}
	common := m.textFrom(0)
	if m.original != nil {
		for _, a := range m.original.Addresses("RCPT TO", "To", "RCPT-TO") {
			if !m.addressed(a) {
				return []Result{m.verdict(a, evidence{text: common}, "")}
			}
		}
	}
	return nil
}
