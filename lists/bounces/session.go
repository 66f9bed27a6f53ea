package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// about is the paragraph of the text for people that speaks of an address; "" if none
// does. The machine-readable part often leaves out which command was refused.
func (m *mail) about(a mailaddr.Address) string {
	key := a.Key()
	for i, l := range m.low {
		if !strings.Contains(l, key) || strings.Contains(l, "-recipient:") || strings.HasPrefix(l, "to:") {
			continue
		}
		end := i + 1
		for end < len(m.low) && end < i+12 && strings.TrimSpace(m.low[end]) != "" {
			if b, _, ok := leadAddress(m.low[end]); ok && b.Key() != key {
				break
			}
			end++
		}
		return m.lines(i, end)
	}
	return ""
}

// session finds out which command was refused, and what the server said if the report
// does not tell.
func (m *mail) session(a mailaddr.Address, diag, about string) (stage, string) {
	if s := stageOf(flat(diag)); s != stageUnknown {
		return s, diag
	}
	if s := stageOf(flat(about)); s != stageUnknown {
		return s, diag
	}
	return m.transcript(a, diag)
}

// transcript reads the dialogue that sendmail and its kin quote: ">>>" before what it
// said, "<<<" before the answers.
func (m *mail) transcript(a mailaddr.Address, diag string) (stage, string) {
	if diag == "" && !m.whole.has("<<< ") {
		diag = m.final(a.Key())
	}
	if !m.whole.has(">>> ") && !m.whole.has("<<< ") {
		return stageUnknown, diag
	}
	key, start := a.Key(), flat(diag)
	if len(start) > 24 {
		start = start[:24]
	}
	last, found, said := stageUnknown, stageUnknown, ""
	for i, l := range m.low {
		l = strings.TrimSpace(l)
		if cmd, ok := strings.CutPrefix(l, ">>> "); ok {
			if s := commandStage(cmd); s != stageUnknown {
				last = s
			}
			continue
		}
		answer, ok := strings.CutPrefix(l, "<<< ")
		if !ok || found != stageUnknown && !strings.Contains(answer, key) {
			continue
		}
		if strings.Contains(answer, key) || start != "" && strings.Contains(flat(answer), start) || start == "" && said == "" {
			found = last
			said = strings.TrimPrefix(strings.TrimSpace(m.notice[i]), "<<< ")
		}
	}
	if diag == "" && said != "" && len(said) > 4 {
		diag = said
	}
	if diag == "" {
		diag = m.final(key)
	}
	return found, diag
}

// final is what sendmail says in the end: "<address>... Deferred: Connection refused".
func (m *mail) final(key string) string {
	for i, l := range m.low {
		if k := strings.Index(l, key+">... "); k >= 0 && k+len(key)+5 < len(m.notice[i]) {
			return m.notice[i][k+len(key)+5:]
		}
	}
	return ""
}
