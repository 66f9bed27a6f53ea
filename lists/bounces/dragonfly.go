package bounces

import "strings"

// dragonfly reads the DragonFly Mail Agent: "There was an error delivering your mail to
// <address>.", then what the server did not like.
func dragonfly(m *mail) []Result {
	i := m.after("error delivering your mail to")
	if i < 0 {
		return nil
	}
	a, ok := m.addressIn(m.notice[i-1])
	if !ok {
		return nil
	}
	end := len(m.notice)
	for k := i; k < end; k++ {
		if strings.HasPrefix(m.low[k], "message headers follow") || strings.HasPrefix(m.low[k], "original message follows") {
			end = k
		}
	}
	text := m.lines(i, end)
	return []Result{m.verdict(a, evidence{text: text}, "")}
}
