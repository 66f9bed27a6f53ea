package rules

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// nullSender: reports, vacation notes and the like are never distributed, and, being
// discarded, never answered (RFC 5321 §4.5.5).
func nullSender(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.Sender.Null() {
		return nil, nil
	}
	return hit("the envelope sender is empty")
}

func noSenders(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if len(p.Message.Addresses("From")) > 0 {
		return nil, nil
	}
	return hit("From has no readable address")
}

// authors are the addresses that have to pass moderation: each of every From field,
// null where it cannot be read, and the envelope sender if the list wants that.
// Reply-To and Sender make nobody a member.
func authors(p *lists.Post) []mailaddr.Address {
	var out []mailaddr.Address
	for _, b := range p.Message.Mailboxes("From") {
		out = append(out, b.Address)
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
