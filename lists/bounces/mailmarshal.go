package bounces

// mailMarshal reads MailMarshal: what went wrong, then "recipients were affected:".
func mailMarshal(m *mail) []Result {
	i := m.after("following recipients were affected")
	why := m.after("could not be delivered because of")
	if i < 0 || why < 0 || why > i {
		return nil
	}
	bs := m.blocks(i, 0)
	for k := range bs {
		bs[k].text = m.lines(why, i-1)
	}
	return m.results(bs, "")
}
