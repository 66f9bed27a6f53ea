package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// mFilter reads m-FILTER of Digital Arts: the address, the server's message, the command.
func mFilter(m *mail) []Result {
	i := m.after("m-filter")
	if i < 0 {
		return nil
	}
	var a mailaddr.Address
	for _, l := range m.notice[i:] {
		if x, _, ok := leadAddress(l); ok && !m.addressed(x) {
			a = x
			break
		}
	}
	if a.Null() {
		return nil
	}
	e := evidence{text: m.section("server message"), stage: commandStage(strings.ToLower(strings.TrimSpace(m.section("smtp command"))))}
	return []Result{m.verdict(a, e, "")}
}

// section is the text below the line "---name" up to the next line of dashes.
func (m *mail) section(name string) string {
	i := m.after("-" + name)
	if i < 0 {
		return ""
	}
	end := i
	for end < len(m.notice) && !strings.HasPrefix(m.notice[end], "---") {
		end++
	}
	return m.lines(i, end)
}
