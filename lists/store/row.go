package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
	"unique"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// roles in the order of the roster's tree and of snapshots.
var roles = []lists.Role{lists.RoleMember, lists.RoleOwner, lists.RoleModerator, lists.RoleNonmember}

func roleIndex(r lists.Role) int { return slices.Index(roles, r) }

// row is a lists.Member as the roster keeps it: small, since a list may have a
// million. It never changes.
type row struct {
	id      lists.MemberID
	address mailaddr.Address
	since   int64 // microseconds
	rest    *rest // nil for most members
	role    uint8
}

// rest is what most members have not.
type rest struct {
	name, why   string
	mode        lists.DeliveryMode
	status      lists.DeliveryStatus
	statusSince int64
	action      lists.Action
	prefs       map[string]string
}

func newRow(m *lists.Member) *row {
	r := &row{id: m.ID, address: m.Address, since: m.Since.UnixMicro(), role: uint8(max(roleIndex(m.Role), 0))}
	if m.Name == "" && m.Mode == "" && m.Status == "" && m.StatusSince.IsZero() && m.StatusWhy == "" && m.Action == "" && len(m.Prefs) == 0 {
		return r
	}
	r.rest = &rest{
		name: m.Name, why: intern(m.StatusWhy), mode: intern(m.Mode), status: intern(m.Status),
		statusSince: m.StatusSince.UnixMicro(), action: intern(m.Action), prefs: m.Prefs,
	}
	return r
}

func (r *row) member() *lists.Member {
	m := &lists.Member{ID: r.id, Address: r.address, Role: roles[r.role], Since: microTime(r.since)}
	if x := r.rest; x != nil {
		m.Name, m.Mode, m.Status, m.StatusWhy = x.name, x.mode, x.status, x.why
		m.StatusSince, m.Action, m.Prefs = microTime(x.statusSince), x.action, x.prefs
	}
	return m
}

// intern keeps one copy of a text that many members share.
func intern[S ~string](s S) S { return unique.Make(s).Value() }

func microTime(us int64) time.Time { return time.UnixMicro(us).UTC() }

func lessKey(a, b *row) bool {
	if a.role != b.role {
		return a.role < b.role
	}
	return compareFold(string(a.address), string(b.address)) < 0
}

func lessID(a, b *row) bool { return a.id < b.id }

// compareFold orders as strings.ToLower of both would, which is how addresses
// compare, without making copies of plain ones.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y && x < utf8.RuneSelf {
			continue
		}
		if x >= utf8.RuneSelf || y >= utf8.RuneSelf {
			return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
		}
		if x, y = lower(x), lower(y); x != y {
			return cmp.Compare(x, y)
		}
	}
	if len(a) == len(b) {
		return 0
	}
	// A longer tail may hold a rune that folds; it still makes the text longer.
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
