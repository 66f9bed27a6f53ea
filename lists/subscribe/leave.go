package subscribe

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/store"
)

// saneLeave finds the member; from then on the address is as the roster has it.
func saneLeave(d Desk, a Ask) (Ask, error) {
	m, ok := d.member(a.Address)
	if !ok {
		return a, refuse("%s is not a member of %s", a.Address, d.list().ID)
	}
	a.Address, a.Name = m.Address, m.Name
	if p, ok := d.State.PendingFor(store.PendingLeave, a.Address, d.At); ok && p.State == store.PendingModerate && !a.Approved {
		return a, refuse("the request of %s to leave waits for the list's moderators already", a.Address)
	}
	return a, nil
}

func leave(d Desk, a Ask) (Result, error) {
	m, ok := d.member(a.Address)
	if !ok {
		return refused(refuse("%s is not a member of %s", a.Address, d.list().ID))
	}
	return Result{
		Event: "left", Reason: fmt.Sprintf("%s has left", m.Address),
		Said:    fmt.Sprintf("%s is no longer a member of %s.", m.Address, d.list().ID),
		Changes: append(d.closed(m.Address, store.PendingLeave, store.PendingSet, store.PendingChange), store.DelMember{Role: lists.RoleMember, Address: m.Address}),
		Notices: d.Left(*m),
	}, nil
}
