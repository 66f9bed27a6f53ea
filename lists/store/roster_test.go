package store

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

func TestCompareFoldIsToLower(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("aAbBzZ@.-Kk\u212aıİÄä[_~")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if got, want := compareFold(a, b), cmp.Compare(strings.ToLower(a), strings.ToLower(b)); got != want {
			t.Fatalf("compareFold(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

// The roster does what a plain map would.
func TestRosterAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRoster()
		model := map[lists.MemberID]lists.Member{}
		next := lists.MemberID(1)
		name := rapid.SampledFrom([]mailaddr.Address{"a@x.org", "A@x.org", "b@x.org", "c@x.org", "d@x.org"})
		role := rapid.SampledFrom(roles)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			m := lists.Member{Role: role.Draw(t, "role"), Address: name.Draw(t, "address")}
			if rapid.Bool().Draw(t, "remove") {
				r.remove(m.Role, m.Address)
			} else {
				m.ID = lists.MemberID(rapid.Uint64Range(1, uint64(next)).Draw(t, "id"))
				next = max(next, m.ID+1)
				r.put(newRow(&m))
				model[m.ID] = m
			}
			for id, old := range model {
				if old.Role == m.Role && old.Address.Key() == m.Address.Key() && id != m.ID {
					delete(model, id)
				}
			}
			r = r.clone()
		}
		compareRoster(t, r, model)
	})
}

func compareRoster(t *rapid.T, r *roster, model map[lists.MemberID]lists.Member) {
	n := 0
	for _, role := range roles {
		var got, want []lists.MemberID
		for m := range r.All(role) {
			got = append(got, m.ID)
			if byID, ok := r.ByID(m.ID); !ok || !gocmp.Equal(byID, m) {
				t.Fatalf("by number %d: %+v, by address: %+v", m.ID, byID, m)
			}
		}
		for id, m := range model {
			if m.Role == role {
				want = append(want, id)
			}
		}
		slices.SortFunc(want, func(a, b lists.MemberID) int {
			return cmp.Compare(model[a].Address.Key(), model[b].Address.Key())
		})
		if !slices.Equal(got, want) || r.Count(role) != len(want) {
			t.Fatalf("%s: %v (count %d), want %v", role, got, r.Count(role), want)
		}
		n += len(want)
	}
	if r.len() != n || r.byID.len() != n {
		t.Fatalf("%d by key, %d by number, want %d", r.len(), r.byID.len(), n)
	}
}

// A state that was given out stays as it is, whatever is committed later.
func TestStatesDoNotChange(t *testing.T) {
	w := newSim(t, defaultSim)
	s := w.host("a")
	w.create(s)
	h := w.lock(s)
	var states []*State
	var dumps []string
	for i := range 150 {
		w.commit(h, AddMember{member(i)}, SetSetting{"description", member(i).Address.String()})
		if i%3 == 2 {
			w.commit(h, DelMember{lists.RoleMember, member(i - 1).Address})
		}
		states, dumps = append(states, h.State()), append(dumps, dump(h.State()))
	}
	for i := range states {
		if dump(states[i]) != dumps[i] {
			t.Fatalf("state %d has changed", i)
		}
	}
	w.release(h)
}
