package handlers

import (
	"context"
	"slices"

	"qrunner/lists"
)

// avoidDuplicates leaves out members who get the post directly and want no second
// copy. That no address is there twice, the roster sees to.
func avoidDuplicates(_ context.Context, p *lists.Post) error {
	direct := map[string]bool{}
	for _, a := range p.Message.Addresses("To", "Cc", "Resent-To", "Resent-Cc") {
		direct[a.Key()] = true
	}
	p.Recipients = slices.DeleteFunc(p.Recipients, func(r lists.Recipient) bool {
		if !direct[r.Address.Key()] {
			return false
		}
		m, ok := p.List.Roster.ByID(r.Member)
		return ok && !p.List.PrefBool(m, "receive_list_copy")
	})
	return nil
}
