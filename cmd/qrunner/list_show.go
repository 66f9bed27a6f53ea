package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"qrunner/lists"
)

type listShowCmd struct {
	List string `arg:"" help:"Posting address."`
	Own  bool   `help:"Only what is set on the list itself."`
}

// shownSetting is one line of list show.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Doc    string `json:"doc"`
}

// Run prints every setting with the level that its value comes from.
func (c *listShowCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	l := st.List()
	out := struct {
		List        lists.ID           `json:"list"`
		ListID      string             `json:"list_id"`
		Incarnation string             `json:"incarnation"`
		Version     uint64             `json:"version"`
		PostID      uint64             `json:"post_id"`
		Roster      map[lists.Role]int `json:"roster"`
		Held        int                `json:"held"`
		Settings    []shownSetting     `json:"settings"`
	}{
		List: l.ID, ListID: l.ID.ListID(), Incarnation: l.Incarnation, Version: l.Version, PostID: l.PostID,
		Roster: map[lists.Role]int{}, Held: len(st.Held()),
	}
	for _, r := range roles {
		out.Roster[r] = l.Roster.Count(r)
	}
	own := st.Overrides()
	for _, name := range l.Settings.Names() {
		row, _ := lists.LookupSetting(name)
		if _, set := own[name]; set || !c.Own {
			out.Settings = append(out.Settings, shownSetting{name, l.Settings.Text(name), l.Settings.Source(name), row.Doc})
		}
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "list\t%s\nlist-id\t%s\nposts\t%d\nheld\t%d\n", out.List, out.ListID, out.PostID, out.Held)
		for _, r := range roles {
			fmt.Fprintf(w, "%ss\t%d\n", r, out.Roster[r])
		}
		fmt.Fprintln(w, "\nSETTING\tVALUE\tFROM")
		for _, s := range out.Settings {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, strings.ReplaceAll(s.Value, "\n", `\n`), s.Source)
		}
	})
}

// roles in the order that people expect.
var roles = []lists.Role{lists.RoleMember, lists.RoleOwner, lists.RoleModerator, lists.RoleNonmember}
