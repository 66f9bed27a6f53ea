package bounces

import "strings"

// sendmail reads sendmail's text (8.x), and Active!hunter, Biglobe, McAfee and others
// that head their lists alike.
func sendmail(m *mail) []Result {
	i := m.after("addresses had permanent fatal errors", "addresses had delivery problems", "addresses had transient non-fatal errors",
		"addresses had delivery errors", "addresses have delivery notifications", "message not delivered to the following",
		"recipients returned permanent errors", "addresses had permanent delivery errors")
	if i < 0 {
		return nil
	}
	bs := m.blocks(i, 0)
	common := m.textFrom(i)
	var out []Result
	for _, b := range bs {
		text := sendmailText(b)
		st, text := m.session(b.addr, text, text)
		r := m.verdict(b.addr, evidence{text: text, stage: st}, common)
		out = append(out, r)
		if !b.alias.Null() && b.alias.Key() != b.addr.Key() && !m.addressed(b.alias) {
			r.Address, r.Alias = b.alias, ""
			out = append(out, r)
		}
	}
	return out
}

// sendmailText takes the reason out of its line, or what stands behind the address.
func sendmailText(b block) string {
	text := strings.TrimSpace(b.text)
	if _, reason, ok := strings.Cut(text, "(reason:"); ok {
		reason, _, _ = strings.Cut(reason, ")\n")
		return strings.Trim(reason, " )\n")
	}
	return strings.Trim(text, " ()[]\n")
}
