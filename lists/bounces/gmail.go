package bounces

import "strings"

// gmail reads Google's reports without report part: the addresses indented below the
// introduction, then "Technical details" for all of them.
func gmail(m *mail) []Result {
	if !m.fromDomain("googlemail.com", "google.com", "gmail.com") {
		return nil
	}
	i := m.after("following recipient failed permanently", "following recipients failed permanently", "following recipient has been delayed",
		"following recipients have been delayed", "delivery to the following recipient")
	if i < 0 {
		return nil
	}
	out := m.blocks(i, 1)
	for k := range out {
		text := strings.TrimSpace(out[len(out)-1].text)
		if _, said, ok := strings.Cut(text, "returned was:"); ok {
			text = said
		}
		out[k].text = text
	}
	rs := m.results(out, "")
	for k := range rs {
		if s, ok := googleState(rs[k].Diagnostic); ok && rs[k].Reason == UserUnknown && s != stageRcpt && detail(rs[k].Status) != "1.1" {
			rs[k].Reason, rs[k].Class = Filtered, Soft
		}
	}
	return rs
}

// googleState reads "(state 14)": how far Google's session had come.
func googleState(text string) (stage, bool) {
	i := strings.LastIndex(text, "(state ")
	if i < 0 {
		return stageUnknown, false
	}
	switch s := strings.TrimRight(text[i+len("(state "):], "). \n"); s {
	case "8", "9", "12":
		return stageMail, true
	case "13", "14":
		return stageRcpt, true
	case "15", "16", "17", "18", "19":
		return stageData, true
	}
	return stageConnect, true
}
