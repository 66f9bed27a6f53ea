package bounces

import "strings"

// netscape reads Netscape Messaging Server and Post.Office, which say why above the list
// and repeat the heading for each recipient.
func netscape(m *mail) []Result {
	if !m.has("was undeliverable due to the following reason", "did not receive your message:", "did not receive this message:") {
		return nil
	}
	var out []Result
	common := m.textFrom(0)
	for i, l := range m.low {
		if i+1 < len(m.low) && (strings.Contains(l, "did not receive your message:") || strings.Contains(l, "did not receive this message:")) {
			for _, b := range m.blocks(i+1, 0) {
				out = append(out, m.verdict(b.addr, evidence{}, common))
			}
		}
	}
	return out
}
