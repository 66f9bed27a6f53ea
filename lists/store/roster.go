package store

import (
	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// roster is everybody a list knows, by role and address, and by number. It
// implements lists.Roster once it hangs on a State.
type roster struct {
	byKey  *set[*row]
	byID   *set[*row]
	counts [4]int // by role
}

var _ lists.Roster = (*roster)(nil)

func newRoster() *roster { return &roster{byKey: newSet(lessKey), byID: newSet(lessID)} }

func (r *roster) clone() *roster {
	return &roster{byKey: r.byKey.clone(), byID: r.byID.clone(), counts: r.counts}
}

// Find implements lists.Roster.
func (r *roster) Find(role lists.Role, a mailaddr.Address) (*lists.Member, bool) {
	i := roleIndex(role)
	if i < 0 {
		return nil, false
	}
	got, ok := r.byKey.get(&row{role: uint8(i), address: a})
	if !ok {
		return nil, false
	}
	return got.member(), true
}

// ByID implements lists.Roster.
func (r *roster) ByID(id lists.MemberID) (*lists.Member, bool) {
	got, ok := r.byID.get(&row{id: id})
	if !ok {
		return nil, false
	}
	return got.member(), true
}

// Count implements lists.Roster.
func (r *roster) Count(role lists.Role) int {
	if i := roleIndex(role); i >= 0 {
		return r.counts[i]
	}
	return 0
}

// All implements lists.Roster.
func (r *roster) All(role lists.Role) func(yield func(*lists.Member) bool) {
	return func(yield func(*lists.Member) bool) {
		i := roleIndex(role)
		if i < 0 {
			return
		}
		for got := range r.byKey.from(&row{role: uint8(i)}) {
			if int(got.role) != i || !yield(got.member()) {
				return
			}
		}
	}
}

func (r *roster) len() int { return r.byKey.len() }

// put adds a row, in the place of whatever has its number or its key.
func (r *roster) put(n *row) {
	if old, had := r.byID.put(n); had {
		r.byKey.del(old)
		r.counts[old.role]--
	}
	if old, had := r.byKey.put(n); had {
		r.counts[old.role]--
		if old.id != n.id {
			r.byID.del(old)
		}
	}
	r.counts[n.role]++
}

func (r *roster) remove(role lists.Role, a mailaddr.Address) {
	i := roleIndex(role)
	if i < 0 {
		return
	}
	if old, had := r.byKey.del(&row{role: uint8(i), address: a}); had {
		r.byID.del(old)
		r.counts[i]--
	}
}
