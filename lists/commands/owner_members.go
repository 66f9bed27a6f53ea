package commands

import (
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/subscribe"
)

// add puts people on the roster.
func add(a *Asked) (subscribe.Result, error) { return a.people("add") }

// del takes people off the roster.
func del(a *Asked) (subscribe.Result, error) { return a.people("del") }

func (a *Asked) people(act string) (subscribe.Result, error) {
	acts := a.each(act)
	if len(acts) == 0 {
		return subscribe.Result{}, refuse("it takes addresses: behind it, or in the lines below it, one each")
	}
	return a.wish(acts...)
}

// members shows an owner the whole roster, at his own address only.
func members(a *Asked) (subscribe.Result, error) {
	if err := a.owner(); err != nil {
		return subscribe.Result{}, err
	}
	if err := a.self(); err != nil {
		return subscribe.Result{}, err
	}
	l := a.State.List()
	lines := []string{fmt.Sprintf("Members of %s (%d):", l.ID, l.Roster.Count(lists.RoleMember))}
	for m := range l.Roster.All(lists.RoleMember) {
		if len(lines) > mostMembers {
			lines = append(lines, "    ...")
			break
		}
		lines = append(lines, "    "+memberLine(l, m))
	}
	for _, role := range []lists.Role{lists.RoleOwner, lists.RoleModerator} {
		for m := range l.Roster.All(role) {
			lines = append(lines, fmt.Sprintf("%s: %s", role, m.Address))
		}
	}
	return answered("members", lines...)
}

// memberLine is what is not usual about a member.
func memberLine(l *lists.List, m *lists.Member) string {
	var notes []string
	if mode := l.Mode(m); mode != lists.ModeRegular {
		notes = append(notes, string(mode))
	}
	if !l.Enabled(m) {
		notes = append(notes, "no mail: "+strings.TrimSpace(string(m.Status)+" "+m.StatusWhy))
	}
	if m.Action != "" {
		notes = append(notes, "posts: "+string(m.Action))
	}
	out := string(m.Address)
	if m.Name != "" {
		out += " (" + shown(m.Name) + ")"
	}
	if len(notes) > 0 {
		out += " [" + strings.Join(notes, "; ") + "]"
	}
	return out
}
