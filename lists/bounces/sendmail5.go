package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// sendmail5 reads sendmail 5 and alike: only a transcript, whose final lines say
// "554 <address>... what".
func sendmail5(m *mail) []Result {
	i := m.after("transcript of session follows")
	if i < 0 {
		return nil
	}
	var out []Result
	last, said := stageUnknown, ""
	for k := i; k < len(m.notice); k++ {
		line := strings.TrimSpace(m.notice[k])
		low := strings.ToLower(line)
		switch {
		case strings.HasPrefix(low, "while talking to"):
			last, said = stageUnknown, ""
		case strings.HasPrefix(line, ">>> "):
			last, said = commandStage(low[4:]), ""
		case strings.HasPrefix(line, "<<< "):
			said = line[4:]
		case len(line) > 4 && replyAt(line):
			a, rest, ok := leadAddress(strings.TrimSpace(line[4:]))
			if !ok || m.addressed(a) {
				continue
			}
			e := evidence{text: rest, stage: last}
			if said != "" {
				e.text = said
			}
			e.reply, _ = codes(line)
			out = append(out, m.verdict(a, e, line))
			last, said = stageUnknown, ""
		}
	}
	if len(out) == 0 {
		out = m.unsent(i)
	}
	return out
}

// unsent is for transcripts that name hosts only: the recipient is the returned
// message's, if it has just one.
func (m *mail) unsent(i int) []Result {
	if m.original == nil || listMail(m.original) || len(m.status) > 0 || strings.Contains(m.textFrom(i), "@") {
		return nil
	}
	var to []mailaddr.Address
	for _, a := range m.original.Addresses("To", "Cc") {
		if !m.addressed(a) {
			to = append(to, a)
		}
	}
	if len(to) != 1 {
		return nil
	}
	return []Result{m.verdict(to[0], evidence{text: m.textFrom(i)}, "")}
}
