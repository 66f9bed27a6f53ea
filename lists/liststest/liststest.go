// Package liststest builds lists and posts for tests: the list ant@lists.example.com
// and its people, the set-up that the reproducers of known bugs share.
package liststest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// Ant is the posting address of the test list.
const Ant lists.ID = "ant@lists.example.com"

// Day is when everything happens.
func Day() time.Time { return time.Date(2024, 1, 1, 10, 0, 0, 0, time.UTC) }

// Members are the people of the list: regular members, a digest member, moderators.
// The caller may change the copy.
func Members() []lists.Member {
	return []lists.Member{
		{Address: "anne@example.org", Role: lists.RoleMember},
		{Address: "bart@example.org", Role: lists.RoleMember},
		{Address: "dora@example.org", Role: lists.RoleMember},
		{Address: "emil+tag@example.org", Role: lists.RoleMember},
		{Address: "cris@example.com", Role: lists.RoleMember, Mode: lists.ModeMIMEDigests},
		{Address: "mona@example.org", Role: lists.RoleModerator},
		{Address: "nils@example.org", Role: lists.RoleModerator},
	}
}

// List is the test list with settings ("name", "value", ...) over the defaults.
// Members get numbers in their order.
func List(members []lists.Member, settings ...string) *lists.List {
	values := map[string]string{}
	for i := 0; i+1 < len(settings); i += 2 {
		if err := lists.CheckSetting(settings[i], settings[i+1]); err != nil {
			panic(err)
		}
		values[settings[i]] = settings[i+1]
	}
	r := roster(members)
	for i := range r {
		r[i].ID = lists.MemberID(i + 1)
	}
	return &lists.List{ID: Ant, Incarnation: "i", Settings: lists.Resolve(lists.Level{Name: "list", Values: values}), Roster: r}
}

// Post is a message to the list as a stage would hand it to the rules. LF in raw
// becomes CRLF.
func Post(l *lists.List, sender mailaddr.Address, raw string) *lists.Post {
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
	return &lists.Post{
		List: l, Message: message.Parse([]byte(raw)), Sender: sender, Target: lists.Target{List: l.ID},
		Received: Day(), Size: int64(len(raw)), Trace: "trace1", Source: "lmtp 192.0.2.1", Host: "mx.example.com", PostID: 7,
	}
}

// roster is a lists.Roster for a handful of people.
type roster []lists.Member

func (r roster) find(ok func(*lists.Member) bool) (*lists.Member, bool) {
	for i := range r {
		if ok(&r[i]) {
			return &r[i], true
		}
	}
	return nil, false
}

// Find implements lists.Roster.
func (r roster) Find(role lists.Role, a mailaddr.Address) (*lists.Member, bool) {
	return r.find(func(m *lists.Member) bool { return m.Role == role && m.Address.Key() == a.Key() })
}

// ByID implements lists.Roster.
func (r roster) ByID(id lists.MemberID) (*lists.Member, bool) {
	return r.find(func(m *lists.Member) bool { return m.ID == id })
}

// Count implements lists.Roster.
func (r roster) Count(role lists.Role) int {
	n := 0
	for range r.All(role) {
		n++
	}
	return n
}

// All implements lists.Roster.
func (r roster) All(role lists.Role) func(yield func(*lists.Member) bool) {
	byAddress := slices.SortedFunc(slices.Values(r), func(a, b lists.Member) int { return cmp.Compare(a.Address.Key(), b.Address.Key()) })
	return func(yield func(*lists.Member) bool) {
		for i := range byAddress {
			if byAddress[i].Role == role && !yield(&byAddress[i]) {
				return
			}
		}
	}
}
