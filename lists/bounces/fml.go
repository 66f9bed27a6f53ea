package bounces

import "strings"

// fml reads the list manager fml: we are no member there, or it saw the message before.
func fml(m *mail) []Result {
	for i, l := range m.low {
		if strings.Contains(l, "not a member of this mailing list <") || strings.Contains(l, "duplicated message-id in <") {
			if a, _, ok := leadAddress(l[strings.IndexByte(l, '<'):]); ok {
				return []Result{m.verdict(a, evidence{text: m.notice[i]}, "")}
			}
		}
	}
	return nil
}
