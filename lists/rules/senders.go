package rules

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// Senders are the readable addresses of the places that sender_headers names, in its
// order. The first is the one to name in notices.
func Senders(p *lists.Post) []mailaddr.Address {
	var out []mailaddr.Address
	for _, name := range strings.Fields(p.List.Settings.Text("sender_headers")) {
		switch {
		case name != "from_":
			out = append(out, p.Message.Addresses(name)...)
		case !p.Sender.Null():
			out = append(out, p.Sender)
		}
	}
	return out
}

// authors are the addresses that have to pass moderation: each of every From field,
// null where it cannot be read or is missing, and the envelope sender if the list wants
// that. Reply-To and Sender make nobody a member.
func authors(p *lists.Post) []mailaddr.Address {
	var out []mailaddr.Address
	for _, b := range p.Message.Mailboxes("From") {
		out = append(out, b.Address)
	}
	if len(out) == 0 {
		out = append(out, "")
	}
	if p.List.Settings.Bool("moderate_envelope_sender") {
		out = append(out, p.Sender)
	}
	return out
}

// everySender is all that may be meant by "sender", for bans.
func everySender(p *lists.Post) []mailaddr.Address {
	out := p.Message.Addresses("From", "Sender", "Reply-To")
	if !p.Sender.Null() {
		out = append(out, p.Sender)
	}
	return out
}

// shown is an address for people.
func shown(a mailaddr.Address) string {
	if a.Null() {
		return "an unreadable address"
	}
	return string(a)
}
