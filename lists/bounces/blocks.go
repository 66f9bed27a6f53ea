package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// block is an address that a report lists, with what it says below it.
type block struct {
	addr  mailaddr.Address
	alias mailaddr.Address // "generated from", "expanded from"
	text  string
}

// maxBlocks bounds what one report may list.
const maxBlocks = 1000

// blocks reads a list of addresses, each at the beginning of a line, with text below
// or behind. It starts at line from; text before the first address is skipped, up to
// gap lines of it. A line that ends the list is one of closers.
func (m *mail) blocks(from, gap int) []block {
	var out []block
	for i := from; i < len(m.notice) && len(out) < maxBlocks; i++ {
		line := m.notice[i]
		if closes(m.low[i]) {
			break
		}
		if a, rest, ok := leadAddress(line); ok && !m.continues(out, a) {
			if !m.addressed(a) {
				out = append(out, block{addr: a, text: strings.TrimLeft(rest, " \t:")})
			}
			continue
		}
		if len(out) == 0 {
			if strings.TrimSpace(line) != "" {
				if gap--; gap < 0 {
					break
				}
			}
			continue
		}
		last := &out[len(out)-1]
		if alias, ok := aliasOf(m.low[i], line); ok {
			last.alias = alias
		} else if len(last.text) < 2*MaxDiagnostic {
			last.text += "\n" + line
		}
	}
	return out
}

// continues reports whether an address at the beginning of a line is only quoted by
// the text that goes on there.
func (m *mail) continues(out []block, a mailaddr.Address) bool {
	return len(out) > 0 && out[len(out)-1].addr.Key() == a.Key()
}

// aliasOf reads "(generated from x)", "(ultimately generated from x)", "(expanded from: x)".
func aliasOf(low, line string) (mailaddr.Address, bool) {
	for _, p := range []string{"generated from ", "expanded from: ", "expanded from "} {
		if i := strings.Index(low, p); i >= 0 && i+len(p) < len(line) {
			a, _, ok := leadAddress(strings.TrimSpace(line[i+len(p):]))
			return a, ok
		}
	}
	return "", false
}

// closes reports whether a line (in lower case) ends a list of recipients.
func closes(low string) bool {
	s := strings.TrimLeft(low, " \t*-#|")
	for _, c := range closers {
		if strings.HasPrefix(s, c) {
			return true
		}
	}
	return false
}

var closers = []string{
	"no action is required", "please reply to", "for further assistance", "if you do so", "please do not resend",
	"diagnostic information for", "transcript of", "reporting-mta:", "the attachment contains",
	"additional information", "please note that", "this is just a warning", "a summary of the",
	"the following text was generated", "system contact", "the message headers", "message headers",
	"content-type: message",
}

// results judges blocks; text that is common to all stands for those without their own.
func (m *mail) results(in []block, common string) []Result {
	out := make([]Result, 0, len(in))
	for _, b := range in {
		e := evidence{text: strings.TrimSpace(b.text)}
		r := m.verdict(b.addr, e, common)
		r.Alias = b.alias
		out = append(out, r)
	}
	return out
}

// after is the index of the line behind the first that has one of the phrases (in lower
// case), -1 if none has.
func (m *mail) after(phrases ...string) int {
	if !m.whole.any(phrases) {
		return -1
	}
	for i, l := range m.low {
		for _, p := range phrases {
			if strings.Contains(l, p) {
				return i + 1
			}
		}
	}
	return -1
}

// textFrom is the notice from line i on, as far as a verdict looks.
func (m *mail) textFrom(i int) string { return m.lines(i, len(m.notice)) }

// lines joins lines i to j of the notice, up to what a verdict looks at: reports may be
// long, and there may be many of them in one.
func (m *mail) lines(i, j int) string {
	var b strings.Builder
	for k := max(i, 0); k < min(j, len(m.notice)) && b.Len() < maxText; k++ {
		b.WriteString(m.notice[k])
		b.WriteByte('\n')
	}
	return b.String()
}

// maxText is how much of a text is judged, in octets, give or take a line.
const maxText = 4 * MaxDiagnostic

// has reports whether the text for people has one of the phrases (in lower case).
func (m *mail) has(phrases ...string) bool {
	return m.whole.any(phrases)
}

// fromDomain reports whether the sender is of one of the domains or below.
func (m *mail) fromDomain(domains ...string) bool {
	d := m.from.Domain()
	for _, x := range domains {
		if d == x || strings.HasSuffix(d, "."+x) {
			return true
		}
	}
	return false
}

// addressIn finds the first address in a line that is not where the message went.
func (m *mail) addressIn(line string) (mailaddr.Address, bool) {
	for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return endsAddress(r) || r == '\'' || r == '=' || r > 0x2fff && r < 0xa000 }) {
		if strings.IndexByte(w, '@') > 0 {
			if a, _, ok := bareAddress(w); ok && !m.addressed(a) {
				return a, true
			}
		}
	}
	return "", false
}
