package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// qmail reads qmail-send's bounces and those of its many descendants (Yahoo, MXLogic,
// amavisd, newmail.ru and others): paragraphs that start with the address in brackets
// and a colon, then what went wrong.
func qmail(m *mail) []Result {
	if out := m.paragraphs(); len(out) > 0 || !m.has("wasn't able to deliver the following message") {
		return out
	}
	i := m.after("wasn't able to deliver the following message") // Yahoo: then the message's header
	for k, l := range m.low[i:] {
		if to, ok := strings.CutPrefix(l, "to:"); ok {
			if a, _, ok := leadAddress(strings.TrimSpace(to)); ok && !m.addressed(a) {
				return []Result{m.verdict(a, evidence{text: m.lines(0, i+k)}, "")}
			}
		}
	}
	return nil
}

// bracketed takes "<address>" at the beginning of a line.
func bracketed(line string) (mailaddr.Address, string, bool) {
	if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "<") {
		return "", "", false
	}
	return leadAddress(line)
}

// bracketedBlocks reads the paragraphs from line i on. Only the line that starts one
// may give an address; the text below quotes what it likes.
func (m *mail) bracketedBlocks(from int) []block {
	var out []block
	for i := from; i < len(m.notice) && len(out) < maxBlocks; i++ {
		if closes(m.low[i]) {
			break
		}
		a, rest, ok := bracketed(m.notice[i])
		if ok && m.startsParagraph(i) && !m.continues(out, a) {
			if m.addressed(a) {
				a = ""
			}
			b := block{addr: a, text: strings.TrimLeft(rest, " \t:")}
			b.alias, _ = aliasOf(strings.ToLower(rest), rest)
			out = append(out, b)
			continue
		}
		if n := len(out); n > 0 && len(out[n-1].text) < 2*MaxDiagnostic {
			out[n-1].text += "\n" + m.notice[i]
		}
	}
	kept := out[:0]
	for _, b := range out {
		if !b.addr.Null() {
			kept = append(kept, b)
		}
	}
	return kept
}
