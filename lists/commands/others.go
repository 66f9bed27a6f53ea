package commands

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/subscribe"
)

// mostOthers is how many lists an answer has.
const mostOthers = 200

// others is the command lists: those of the same domain that want to be seen.
func others(a *Asked) (subscribe.Result, error) {
	all := []*lists.List{a.State.List()}
	if a.Directory != nil {
		var err error
		if all, err = a.Directory(); err != nil {
			return subscribe.Result{}, err
		}
	}
	out := []string{"Lists at " + a.State.ID().Domain() + ":"}
	for _, l := range all {
		if l.ID == lists.Site || l.ID.Domain() != a.State.ID().Domain() || !l.Settings.Bool("advertised") {
			continue
		}
		if len(out) > mostOthers {
			out = append(out, "    ...")
			break
		}
		out = append(out, fmt.Sprintf("    %s  %s", l.ID, shown(l.Settings.Text("description"))))
	}
	if len(out) == 1 {
		out = append(out, "    none that wants to be seen")
	}
	return answered("lists", out...)
}
