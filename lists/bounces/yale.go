package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// yale reads phquery of Yale: a local name; the text advises a second domain for it.
func yale(m *mail) []Result {
	i := m.after("message not delivered to the following")
	if i < 0 || !m.has("phquery") {
		return nil
	}
	var out []Result
	for _, l := range m.notice[i:] {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		if strings.HasPrefix(f[0], "-") {
			break
		}
		for _, d := range yaleDomains(m.from) {
			if a, ok := parseAddress(f[0] + "@" + d); ok {
				out = append(out, m.verdict(a, evidence{text: l}, ""))
			}
		}
	}
	return out
}

// yaleDomains: the site's domain, and the one of its department that it mentions.
func yaleDomains(from mailaddr.Address) []string {
	labels := strings.Split(from.Domain(), ".")
	if len(labels) < 2 {
		return nil
	}
	site := strings.Join(labels[len(labels)-2:], ".")
	return []string{site, "cs." + site}
}
