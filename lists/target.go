package lists

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// SubAddress says which of a list's addresses is meant.
type SubAddress string

// The sub-addresses of Mailman 3, and its predecessor's -admin.
const (
	SubPost        SubAddress = ""
	SubAdmin       SubAddress = "admin"
	SubBounces     SubAddress = "bounces"
	SubConfirm     SubAddress = "confirm"
	SubJoin        SubAddress = "join"
	SubLeave       SubAddress = "leave"
	SubOwner       SubAddress = "owner"
	SubRequest     SubAddress = "request"
	SubSubscribe   SubAddress = "subscribe"
	SubUnsubscribe SubAddress = "unsubscribe"
)

// SubAddresses is every suffix, in the order of the manual.
var SubAddresses = []SubAddress{
	SubBounces, SubConfirm, SubJoin, SubLeave, SubOwner, SubRequest, SubSubscribe, SubUnsubscribe, SubAdmin,
}

// Target is what one recipient address means to us.
type Target struct {
	List ID
	Sub  SubAddress
	// Extra is what stood behind the first "+": a token or a VERP address.
	Extra string
}

// Address is the target's address again.
func (t Target) Address() mailaddr.Address {
	a := t.List.Address(t.Sub)
	if t.Extra == "" {
		return a
	}
	return mailaddr.Address(a.Local() + "+" + t.Extra + "@" + a.Domain())
}

// Candidates lists what an address may mean, the likeliest first: a list whose name
// is the whole local part wins over a sub-address of a shorter name ("x-owner" may
// be a list). Which of them is meant, only the share can say. What stands behind
// the first "+" is Extra.
func Candidates(a mailaddr.Address) []Target {
	local, extra, _ := strings.Cut(a.Local(), "+")
	local = strings.ToLower(local)
	var out []Target
	if id, err := ParseID(local + "@" + a.Domain()); err == nil {
		out = append(out, Target{List: id, Extra: extra})
	}
	for _, s := range SubAddresses {
		name, ok := strings.CutSuffix(local, "-"+string(s))
		if !ok {
			continue
		}
		if id, err := ParseID(name + "@" + a.Domain()); err == nil {
			out = append(out, Target{List: id, Sub: s, Extra: extra})
		}
	}
	return out
}
