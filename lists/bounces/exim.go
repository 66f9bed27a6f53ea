package bounces

// exim reads Exim's text (also Mail.ru, GMX, 1&1 and T-Online, which write alike): the
// failed addresses indented or quoted below the introduction, what went wrong indented
// deeper.
func exim(m *mail) []Result {
	i := m.after("following address(es) failed", "following addresses failed", "following address failed", "address(es) failed:", "addresses failed:",
		"has not yet been delivered is", "have not yet been delivered are", "has not yet been delivered to the following", "получателям",
		"incorrectly constructed", "this is a permanent error.")
	if i < 0 || !m.has("mail delivery software", "was created automatically", "mail.ru", "smtp relay on", "a message that you sent") {
		return nil
	}
	out := m.results(m.blocks(i, 6), "")
	if len(out) == 0 { // a local delivery: the header says who
		return failedRecipients(m)
	}
	if m.whole.has("incorrectly constructed") {
		for i := range out {
			out[i].Reason, out[i].Class = SyntaxErr, Soft
		}
	}
	return out
}

// failedRecipients believes the header of Exim and Gmail where the text names nobody.
func failedRecipients(m *mail) []Result {
	var out []Result
	for _, a := range m.head.Addresses("X-Failed-Recipients") {
		if !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: m.about(a)}, m.textFrom(0)))
		}
	}
	return out
}
