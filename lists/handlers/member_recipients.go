package handlers

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// memberRecipients leaves out whom a post on these topics does not concern; digests have
// them all.
func memberRecipients(_ context.Context, p *lists.Post) error {
	authors := map[string]bool{}
	for _, a := range p.Message.Addresses("From") {
		authors[a.Key()] = true
	}
	_, topical := topicsOf(p.List)
	p.Recipients = make([]lists.Recipient, 0, p.List.Roster.Count(lists.RoleMember))
	for m := range p.List.Roster.All(lists.RoleMember) {
		switch {
		case !p.List.Delivers(m):
			p.DigestMembers = p.DigestMembers || p.List.Digested(m)
		case topical && !p.List.Wants(m, p.Topics):
		case authors[m.Address.Key()] && !p.List.PrefBool(m, "receive_own_postings"):
		default:
			p.Recipients = append(p.Recipients, recipient(lists.KindMember, m.ID, m.Address))
		}
	}
	return nil
}

func recipient(kind lists.RecipientKind, id lists.MemberID, a mailaddr.Address) lists.Recipient {
	return lists.Recipient{Kind: kind, Member: id, Address: a}
}
