package bounces

import "strings"

// zoho reads "address Invalid Address, ERROR_CODE :550, ERROR_CODE :5.2.1 what".
func zoho(m *mail) []Result {
	var out []Result
	for i, l := range m.low { // "[Status: Error, Address: <address>, ResponseCode 421, , Host not reachable.]"
		if k := strings.Index(l, "address: <"); k > 0 && strings.Contains(l, "[status: ") && k < len(m.notice[i]) {
			if a, rest, ok := leadAddress(m.notice[i][k+len("address: "):]); ok && !m.addressed(a) {
				out = append(out, m.verdict(a, evidence{text: strings.Trim(strings.ReplaceAll(rest, "ResponseCode", ""), " ,[]")}, ""))
			}
		}
	}
	if !m.has("error_code :") {
		return out
	}
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
