package lists

import (
	"errors"
	"fmt"
	"strings"

	"qrunner/lists/mailaddr"
)

// ID names a list: its posting address, in lower case. It is also a folder name on
// the share, which is why its characters are few. (The List-Id of RFC 2919 will not
// do: a.b@c.org and a@b.c.org have the same one.)
type ID string

// Site is the reserved ID whose log and queues carry what belongs to no list: mail
// for the site owner and alerts. No mail can be addressed to it.
const Site ID = "_site"

// maxID keeps names made of an ID inside NAME_MAX (255).
const maxID = 128

// ErrBadID: the text cannot be a list's posting address.
var ErrBadID = errors.New("not a list address")

// ParseID checks that s can be a list's posting address.
func ParseID(s string) (ID, error) {
	a, err := mailaddr.Parse(strings.ToLower(strings.TrimSpace(s)))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadID, err)
	}
	if len(a) > maxID {
		return "", fmt.Errorf("%w: %q is longer than %d octets", ErrBadID, a, maxID)
	}
	if !okLocal(a.Local()) {
		return "", fmt.Errorf("%w: %q: a list's name has letters, digits, \"-\", \"_\" and \".\" only, and starts with a letter or digit", ErrBadID, a.Local())
	}
	if strings.HasPrefix(a.Domain(), "[") {
		return "", fmt.Errorf("%w: %q: address literal", ErrBadID, a)
	}
	return ID(a), nil
}

func okLocal(s string) bool {
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		case i > 0 && (r == '-' || r == '_' || r == '.'):
		default:
			return false
		}
	}
	return s != ""
}

// Local is the list's name.
func (id ID) Local() string { return mailaddr.Address(id).Local() }

// Domain is the list's mail host.
func (id ID) Domain() string { return mailaddr.Address(id).Domain() }

// ListID is the identifier of RFC 2919: the name and the host joined by a dot.
func (id ID) ListID() string { return id.Local() + "." + id.Domain() }

// Posting is the address to post to.
func (id ID) Posting() mailaddr.Address { return mailaddr.Address(id) }

// Address is one of the list's service addresses.
func (id ID) Address(s SubAddress) mailaddr.Address {
	if s == SubPost {
		return id.Posting()
	}
	return mailaddr.Address(id.Local() + "-" + string(s) + "@" + id.Domain())
}

// Bounces is the address that list mail carries as its envelope sender.
func (id ID) Bounces() mailaddr.Address { return id.Address(SubBounces) }
