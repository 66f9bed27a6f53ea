package bounces

import "strings"

// domino reads Lotus/HCL Domino: "was not delivered to:", the address, "because:".
func domino(m *mail) []Result {
	i := m.after("was not delivered to:")
	if i < 0 {
		return nil
	}
	return m.results(m.blocks(i, 0), m.textFrom(0))
}

// notes reads the Lotus Notes SMTP gateway: what went wrong above the address.
func notes(m *mail) []Result {
	i := m.after("failure reasons")
	if i < 0 {
		return nil
	}
	var out []Result
	text := ""
	for _, l := range m.notice[i:] {
		if a, _, ok := leadAddress(l); ok {
			if !m.addressed(a) {
				out = append(out, m.verdict(a, evidence{text: strings.TrimSpace(text)}, ""))
			}
			text = ""
			continue
		}
		text += l + "\n"
	}
	return out
}
