package handlers

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

func memberRecipients(_ context.Context, p *lists.Post) error {
	authors := map[string]bool{}
	for _, a := range p.Message.Addresses("From") {
		authors[a.Key()] = true
	}
	p.Recipients = make([]lists.Recipient, 0, p.List.Roster.Count(lists.RoleMember))
	for m := range p.List.Roster.All(lists.RoleMember) {
		switch {
		case !m.Delivers():
			p.DigestMembers = p.DigestMembers || m.Digested()
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
