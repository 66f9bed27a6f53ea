package subscribe

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
)

// mailbox reads ADDRESS or Name <ADDRESS>.
func mailbox(text string) (mailaddr.Address, string, error) {
	if !strings.ContainsAny(text, "<\"") {
		if a, err := mailaddr.Parse(text); err == nil {
			return a, "", nil
		}
	} else if list := message.ParseAddressList(text); len(list) == 1 {
		return list[0].Address, strings.TrimSpace(list[0].Name), nil
	}
	return "", "", refuse("%q is not a mail address", text)
}

// ownerAdd puts somebody on the roster in the owner's word: he is not asked, but told, as
// the list's settings say.
func ownerAdd(d Desk, rest string) (Result, error) {
	who, name, err := mailbox(rest)
	if err != nil {
		return Result{}, err
	}
	if err := d.Welcome(who); err != nil {
		return Result{}, err
	}
	if m, ok := d.member(who); ok {
		return Result{}, refuse("%s is a member already", m.Address)
	}
	return join(d, Ask{Kind: store.PendingJoin, Address: who, Name: name})
}

func ownerDel(d Desk, rest string) (Result, error) {
	who, _, err := mailbox(rest)
	if err != nil {
		return Result{}, err
	}
	if _, ok := d.list().Roster.Find(lists.RoleMember, who); !ok {
		return Result{}, refuse("%s is not a member", who)
	}
	return leave(d, Ask{Kind: store.PendingLeave, Address: who})
}
