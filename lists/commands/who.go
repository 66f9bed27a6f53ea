package commands

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/subscribe"
)

// mostMembers is how many members an answer has.
const mostMembers = 1000

// who shows the roster to those who may see it, and to them only at the address that gives
// them the right. Members who hide are shown to owners and moderators.
func who(a *Asked) (subscribe.Result, error) {
	l := a.State.List()
	staff := a.is(lists.RoleOwner, lists.RoleModerator)
	visible := l.Settings.Text("member_roster_visibility")
	if visible != "public" || staff {
		if err := a.self(); err != nil {
			return subscribe.Result{}, err
		}
	}
	if !staff && (visible == "moderators" || visible == "members" && !a.is(lists.RoleMember)) {
		return subscribe.Result{}, refuse("only %s may see who is a member of %s", map[string]string{"moderators": "owners and moderators", "members": "members"}[visible], l.ID)
	}
	lines := []string{fmt.Sprintf("Members of %s (%d):", l.ID, l.Roster.Count(lists.RoleMember))}
	hidden := 0
	for m := range l.Roster.All(lists.RoleMember) {
		switch {
		case !staff && l.PrefBool(m, "hide_address"):
			hidden++
		case len(lines) > mostMembers:
			lines = append(lines, "    ...")
			return answered("who", lines...)
		default:
			lines = append(lines, "    "+string(m.Address))
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("and %d who do not wish to be shown.", hidden))
	}
	return answered("who", lines...)
}
