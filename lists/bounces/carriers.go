package bounces

// carriers reads Japanese mobile carriers (au, EZweb, KDDI).
func carriers(m *mail) []Result {
	if !m.fromDomain("ezweb.ne.jp", "au.com", "dion.ne.jp") {
		return nil
	}
	common := m.textFrom(0)
	seen := map[string]bool{}
	var out []Result
	for i, l := range m.notice {
		a, _, ok := bracketed(l)
		for _, p := range []string{"recipient: ", "could not be delivered to: "} {
			if _, rest, found := cutFold(l, p); found {
				a, _, ok = leadAddress(rest)
			}
		}
		if !ok || m.addressed(a) || seen[a.Key()] {
			continue
		}
		seen[a.Key()] = true
		st, said := m.transcript(a, "")
		if said == "" {
			said = m.textFrom(i)
		}
		out = append(out, m.verdict(a, evidence{text: said, stage: st}, common))
	}
	return out
}
