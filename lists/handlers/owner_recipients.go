package handlers

import (
	"context"
	"slices"

	"qrunner/lists"
)

// ownerRecipients: nobody's mail to the owners is lost because a list has none.
func ownerRecipients(_ context.Context, p *lists.Post) error {
	p.Recipients = nil
	for _, role := range []lists.Role{lists.RoleOwner, lists.RoleModerator} {
		for m := range p.List.Roster.All(role) {
			if m.Status == "" || m.Status == lists.StatusEnabled {
				p.Recipients = append(p.Recipients, recipient(lists.KindOwner, m.ID, m.Address))
			}
		}
	}
	if len(p.Recipients) == 0 {
		for _, a := range p.SiteOwners {
			p.Recipients = append(p.Recipients, recipient(lists.KindOwner, 0, a))
		}
	}
	p.Recipients = distinct(p.Recipients)
	return nil
}

// noticeRecipients: a notice that names nobody is for the owners.
func noticeRecipients(ctx context.Context, p *lists.Post) error {
	if len(p.Recipients) > 0 {
		return nil
	}
	return ownerRecipients(ctx, p)
}

// distinct keeps the first recipient of each address: owners may be moderators too.
func distinct(rs []lists.Recipient) []lists.Recipient {
	seen := make(map[string]bool, len(rs))
	return slices.DeleteFunc(rs, func(r lists.Recipient) bool {
		key := r.Address.Key()
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}
