package subscribe

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// A change of address has two steps, since both addresses have to agree: first the token
// goes to the old one, and the request is about that, with the new one as argument; then to
// the new one, with the old one as argument.
const (
	argNew = "new"
	argOld = "old"
)

// Change is a member's wish to get the list's mail at another address.
func Change(was, now mailaddr.Address) Ask {
	return Ask{Kind: store.PendingChange, Address: was, Args: map[string]string{argNew: string(now)}}
}

func saneChange(d Desk, a Ask) (Ask, error) {
	was, now := a.addresses()
	m, ok := d.member(was)
	if !ok {
		return a, refuse("%s is not a member of %s", was, d.list().ID)
	}
	if err := d.Welcome(now); err != nil {
		return a, err
	}
	if other, ok := d.member(now); ok && (other.ID != m.ID || other.Address == now) {
		if !d.Trusted && d.Sender.Key() != now.Key() {
			return a, refuse("this cannot be done; the list's owners are at %s", d.list().ID.Address(lists.SubOwner))
		}
		return a, refuse("%s is a member of %s already", now, d.list().ID)
	}
	return a, nil
}

// addresses are the old and the new one, whichever step it is.
func (a Ask) addresses() (was, now mailaddr.Address) {
	if old := a.Args[argOld]; old != "" {
		return mailaddr.Address(old), a.Address
	}
	return a.Address, mailaddr.Address(a.Args[argNew])
}

// change goes on to the new address, or, once that has confirmed too, puts it on the
// roster. Bounces of the old one do not count against the new one.
func change(d Desk, a Ask) (Result, error) {
	was, now := a.addresses()
	if a.Args[argOld] == "" {
		k, err := kindOf(a.Kind)
		if err != nil {
			return Result{}, err
		}
		next := Ask{Kind: a.Kind, Address: now, Args: map[string]string{argOld: string(was)}}
		return d.step(k, next)
	}
	m, ok := d.member(was)
	if !ok {
		return refused(refuse("%s is not a member of %s", was, d.list().ID))
	}
	moved := *m
	moved.Address = now
	var out []store.Change
	if _, had := d.State.Bounce(m.ID); had {
		out = append(out, store.DropBounce{Member: m.ID})
	}
	if moved.Status == lists.StatusByBounces {
		moved.Status, moved.StatusSince, moved.StatusWhy = "", d.At, "the address was changed"
	}
	return Result{
		Event: "changed", Reason: fmt.Sprintf("%s is now %s", was, now), Changes: append(out, store.SetMember{Member: moved}),
		Said: fmt.Sprintf("Mail from %s goes to %s from now on, and no longer to %s.", d.list().ID, now, was),
	}, nil
}
