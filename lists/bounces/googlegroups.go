package bounces

// googleGroups reads that a group does not exist or takes no posts of ours, in any
// language: the text names the poster, the header the group.
func googleGroups(m *mail) []Result {
	if !m.has("groups.google.com/support") && !m.has("google groups\n", "support.google.com/groups") {
		return nil
	}
	var out []Result
	for _, a := range m.head.Addresses("X-Failed-Recipients") {
		out = append(out, Result{Address: a, Reason: Rejected, Class: Soft, Permanent: true, Diagnostic: m.textFrom(0)})
	}
	return out
}
