package chains

import (
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// The names of the fields that say which rules matched.
const (
	hitsField   = "X-Mailman-Rule-Hits"
	missesField = "X-Mailman-Rule-Misses"
)

// Mark writes the verdict's hits and misses into the header, in place of any that a
// sender put there.
func Mark(m *message.Message, v lists.Verdict) {
	var hits []string
	for _, h := range v.Hits {
		hits = append(hits, h.Rule)
	}
	mark(m, hitsField, hits)
	mark(m, missesField, slices.DeleteFunc(slices.Clone(v.Misses), func(r string) bool { return r == "any" }))
}

func mark(m *message.Message, name string, rules []string) {
	m.Del(name)
	if len(rules) > 0 {
		m.Add(name, strings.Join(rules, "; "))
	}
}
