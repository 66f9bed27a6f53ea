package bounces

import "strings"

// zoho reads "address Invalid Address, ERROR_CODE :550, ERROR_CODE :5.2.1 what".
func zoho(m *mail) []Result {
	if !m.has("error_code :") {
		return nil
	}
	var out []Result
	for i, l := range m.notice {
		if !strings.Contains(m.low[i], "error_code :") {
			continue
		}
		if a, rest, ok := leadAddress(l); ok && !m.addressed(a) {
			if _, said, ok := strings.Cut(rest, "ERROR_CODE :"); ok {
				rest = strings.ReplaceAll(strings.ReplaceAll(said, "ERROR_CODE :", ""), ",", " ")
			}
			out = append(out, m.verdict(a, evidence{text: rest}, ""))
		}
	}
	return out
}
