package lists

import (
	"time"

	"qrunner/lists/mailaddr"
)

// Role is what an address is to a list.
type Role string

// The roles of Mailman 3.
const (
	RoleMember    Role = "member"
	RoleOwner     Role = "owner"
	RoleModerator Role = "moderator"
	RoleNonmember Role = "nonmember"
)

// Action is what happens to a post; ActionDefer leaves it to the rules that follow.
type Action string

// The moderation actions.
const (
	ActionDefer   Action = "defer"
	ActionAccept  Action = "accept"
	ActionHold    Action = "hold"
	ActionReject  Action = "reject"
	ActionDiscard Action = "discard"
)

// DeliveryMode is how a member gets the list's mail.
type DeliveryMode string

// The delivery modes.
const (
	ModeRegular        DeliveryMode = "regular"
	ModePlainDigests   DeliveryMode = "plaintext_digests"
	ModeMIMEDigests    DeliveryMode = "mime_digests"
	ModeSummaryDigests DeliveryMode = "summary_digests"
)

// Digests reports whether the mode is one of digests.
func (m DeliveryMode) Digests() bool {
	return m == ModePlainDigests || m == ModeMIMEDigests || m == ModeSummaryDigests
}

// DeliveryStatus says whether a member gets mail at all, and who decided so.
type DeliveryStatus string

// The delivery statuses.
const (
	StatusEnabled     DeliveryStatus = "enabled"
	StatusByUser      DeliveryStatus = "by_user"
	StatusByBounces   DeliveryStatus = "by_bounces"
	StatusByModerator DeliveryStatus = "by_moderator"
	StatusUnknown     DeliveryStatus = "unknown"
)

// MemberID numbers the members of one list in the order they came; never reused.
type MemberID uint64

// Member is an address on a list's roster in one role. A Member in a roster is
// never changed: a change puts a new one in its place.
type Member struct {
	ID      MemberID         `json:"id"`
	Address mailaddr.Address `json:"address"`
	Role    Role             `json:"role"`
	Name    string           `json:"name,omitempty"`
	// Mode and Status: empty leaves it to the address's preference, else regular and enabled.
	Mode        DeliveryMode   `json:"mode,omitempty"`
	Status      DeliveryStatus `json:"status,omitempty"`
	StatusSince time.Time      `json:"status_since,omitzero"`
	StatusWhy   string         `json:"status_why,omitempty"`
	// Action is the moderation action; empty leaves it to the list's default.
	Action Action            `json:"action,omitempty"`
	Prefs  map[string]string `json:"prefs,omitempty"` // names of PrefTable; missing = the list's
	Since  time.Time         `json:"since,omitzero"`
}

// Delivers reports whether the member gets each post by itself, as far as he has said
// himself; see List.Delivers.
func (m *Member) Delivers() bool { return (&List{}).Delivers(m) }

// Roster is a list's people at one moment: it never changes.
type Roster interface {
	// Find looks an address up in one role, in any case.
	Find(role Role, a mailaddr.Address) (*Member, bool)
	// ByID looks a member up by number, in any role.
	ByID(id MemberID) (*Member, bool)
	// Count is how many have the role.
	Count(role Role) int
	// All yields everybody of a role in address order.
	All(role Role) func(yield func(*Member) bool)
}
