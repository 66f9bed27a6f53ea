package subscribe

import (
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// Invite asks somebody, in the owners' name, to become a member: his answer makes him one,
// whatever the policy. Bans hold; the limits on such mail too.
func (d Desk) Invite(a mailaddr.Address, name string) (Result, error) {
	res, err := d.Request(Ask{Kind: store.PendingInvite, Address: a, Name: name, Approved: true})
	if res.Event == "pending" {
		res.Event = "invited"
	}
	return res, err
}
