package bounces

// openSMTPD reads "address: what" below "the following list of recipients:".
func openSMTPD(m *mail) []Result {
	if !m.has("this is the mailer-daemon, please do not reply") {
		return nil
	}
	i := m.after("list of recipients:", "following list of recipients")
	if i < 0 {
		return nil
	}
	return m.results(m.blocks(i, 1), "")
}
