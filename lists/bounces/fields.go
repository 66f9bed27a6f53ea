package bounces

import "strings"

// group is one block of fields of a report (RFC 3464 §2.1): names in lower case,
// values unfolded; a field that comes twice has its values in order.
type group map[string][]string

func (g group) get(name string) string {
	if v := g[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// reported are the fields that make a group one about a recipient.
func (g group) recipient() bool {
	return g.get("final-recipient") != "" || g.get("original-recipient") != ""
}

// readGroups reads blocks of fields. A second Final-Recipient starts a new block even
// without the empty line; a block that has no recipient although it says what became
// of one belongs to its neighbour.
func readGroups(text string) []group {
	var out []group
	g, last := group{}, ""
	flush := func() {
		if len(g) > 0 {
			out = append(out, g)
			g = group{}
		}
		last = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		name, value, ok := strings.Cut(trimmed, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case trimmed == "":
			flush()
		case last != "" && (line[0] == ' ' || line[0] == '\t' || !ok || strings.ContainsAny(name, " \t")):
			v := g[last]
			if len(v[len(v)-1]) < maxText {
				v[len(v)-1] = strings.TrimSpace(v[len(v)-1] + "\n" + trimmed)
			}
		case ok && !strings.ContainsAny(name, " \t"):
			if name == "final-recipient" && g.get(name) != "" {
				flush()
			}
			g[name] = append(g[name], strings.TrimSpace(value))
			last = name
		}
	}
	flush()
	return joinGroups(out)
}

// joinGroups gives fields about a recipient that an empty line tore off back.
func joinGroups(in []group) []group {
	var out []group
	var loose group
	for _, g := range in {
		if !g.recipient() && (g.get("status") != "" || g.get("diagnostic-code") != "" || g.get("action") != "") {
			if n := len(out); n > 0 && out[n-1].recipient() && out[n-1].get("status") == "" {
				merge(out[n-1], g)
				continue
			}
			loose = g
			continue
		}
		if loose != nil && g.recipient() {
			merge(g, loose)
			loose = nil
		}
		out = append(out, g)
	}
	return out
}

func merge(into, from group) {
	for name, v := range from {
		if len(into[name]) == 0 {
			into[name] = v
		}
	}
}
