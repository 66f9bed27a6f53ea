package commands

import (
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/subscribe"
)

func help(a *Asked) (subscribe.Result, error) {
	id := a.State.ID()
	lines := []string{fmt.Sprintf("Commands go to %s, one a line, as the subject or at the top of the text:", id.Address(lists.SubRequest)), ""}
	owner := a.is(lists.RoleOwner)
	for _, v := range a.Verbs {
		if v.Owners && !owner {
			continue
		}
		lines = append(lines, "    "+strings.TrimSpace(strings.Join(v.Names, " or ")+" "+v.Args), "        "+v.Doc)
	}
	lines = append(lines, "", "Any mail to these addresses does the same as join and leave:",
		"    "+string(id.Address(lists.SubJoin)), "    "+string(id.Address(lists.SubLeave)),
		"", "There are no passwords: what concerns an address is confirmed by a mail to it.")
	return answered("help", lines...)
}
