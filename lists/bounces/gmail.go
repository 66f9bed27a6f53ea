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

// googleGroups reads that a group does not exist or takes no posts of ours, in any
// language: the text names the poster, the header the group.
func googleGroups(m *mail) []Result {
	if !m.has("groups.google.com/support") && !m.has("google groups\n", "support.google.com/groups") {
		return nil
	}
	var out []Result
	for _, a := range m.head.Addresses("X-Failed-Recipients") {
		out = append(out, Result{Address: a, Reason: Rejected, Class: Soft, Permanent: true, Diagnostic: strings.Join(m.notice, "\n")})
	}
	return out
}
