package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/rules"
	"qrunner/lists/store"
)

type listCmd struct {
	Create listCreateCmd `cmd:"" help:"Make a list."`
	Show   listShowCmd   `cmd:"" help:"Settings in force, each with where its value comes from."`
	Set    listSetCmd    `cmd:"" help:"Change settings of a list."`
	Ls     listLsCmd     `cmd:"" help:"The lists of this site."`
	Delete listDeleteCmd `cmd:"" help:"Delete a list: roster, settings and log. Its archive stays."`
	Log    listLogCmd    `cmd:"" help:"Who changed what, when, from which host and why."`
	Verify listVerifyCmd `cmd:"" help:"Read every file of lists and say what is damaged, missing or left over."`

	Archive archCmd `cmd:"" help:"Archived posts (the same as qrunner archive)."`
}

type listCreateCmd struct {
	List  string   `arg:"" help:"Posting address."`
	Style string   `help:"Set of defaults." default:"default"`
	Set   []string `help:"Setting of the list; may be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Owner []string `help:"Owner's address; may be repeated." placeholder:"ADDRESS"`
}

// Run makes the list with its first settings and owners in one commit.
func (c *listCreateCmd) Run(ctx context.Context, a *app) error {
	id, err := lists.ParseID(c.List)
	if err != nil {
		return err
	}
	changes, err := settings(append([]string{"style=" + c.Style}, c.Set...))
	if err != nil {
		return err
	}
	for _, o := range c.Owner {
		m, err := newMember(o, "", lists.RoleOwner)
		if err != nil {
			return err
		}
		changes = append(changes, store.AddMember{Member: m})
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := h.checkServiceNames(ctx, id); err != nil {
		return err
	}
	if err := h.store.Create(ctx, id, by("list create"), changes...); err != nil {
		return err
	}
	return a.print(map[string]string{"created": string(id)}, func(w io.Writer) { fmt.Fprintf(w, "created %s\n", id) })
}

// settings turns NAME=VALUE into changes; \n in a value is a line break. A password is
// hashed before anything is written.
func settings(args []string) ([]store.Change, error) {
	var out []store.Change
	for _, s := range args {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &usageError{fmt.Errorf("%q is not NAME=VALUE", s)}
		}
		value = strings.ReplaceAll(value, `\n`, "\n")
		if err := lists.CheckListSetting(name, value); err != nil {
			return nil, err
		}
		if name == "moderator_password" {
			var err error
			if value, err = rules.HashPassword(value); err != nil {
				return nil, fmt.Errorf("setting %s: %w", name, err)
			}
		}
		out = append(out, store.SetSetting{Name: name, Value: value})
	}
	return out, nil
}

type listSetCmd struct {
	List  string   `arg:"" help:"Posting address."`
	Set   []string `arg:"" optional:"" help:"NAME=VALUE, as many as wanted; \\n in a value is a line break."`
	Unset []string `help:"Setting that shall follow domain, site and style again; may be repeated." placeholder:"NAME"`
}

// Run changes all of the settings or none.
func (c *listSetCmd) Run(ctx context.Context, a *app) error {
	changes, err := settings(c.Set)
	if err != nil {
		return err
	}
	for _, name := range c.Unset {
		if _, ok := lists.LookupSetting(name); !ok {
			return lists.CheckSetting(name, "")
		}
		changes = append(changes, store.UnsetSetting{Name: name})
	}
	if len(changes) == 0 {
		return &usageError{fmt.Errorf("nothing to set")}
	}
	if err := a.change(ctx, c.List, "list set", func(*store.State) ([]store.Change, error) { return changes, nil }); err != nil || a.json {
		return err
	}
	return c.explain(a.std.out)
}

// explain says what the settings mean that were just set.
func (c *listSetCmd) explain(w io.Writer) error {
	for _, s := range c.Set {
		name, _, _ := strings.Cut(s, "=")
		row, _ := lists.LookupSetting(name)
		if _, err := fmt.Fprintf(w, "%s: %s\n", name, row.Doc); err != nil {
			return err
		}
	}
	return nil
}

type listLsCmd struct{}

// Run lists the lists with their numbers of members.
func (c *listLsCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	ids, err := h.store.Lists(ctx)
	if err != nil {
		return err
	}
	type row struct {
		List    lists.ID `json:"list"`
		Members int      `json:"members"`
		Held    int      `json:"held"`
		Error   string   `json:"error,omitempty"`
	}
	rows := []row{}
	for _, id := range ids {
		if id == lists.Site {
			continue
		}
		r := row{List: id}
		if st, err := h.store.Read(ctx, id); err != nil {
			r.Error = err.Error() // one broken list hides no other
		} else {
			r.Members, r.Held = st.List().Roster.Count(lists.RoleMember), len(st.Held())
		}
		rows = append(rows, r)
	}
	return a.print(rows, func(w io.Writer) {
		fmt.Fprintln(w, "LIST\tMEMBERS\tHELD\t")
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", r.List, r.Members, r.Held, r.Error)
		}
	})
}

type listLogCmd struct {
	List string `arg:"" help:"Posting address."`
	All  bool   `help:"Also what only keeps hosts apart (fences, releases), and the queues' notes about their work."`
}

// Run prints the list's log, oldest first.
func (c *listLogCmd) Run(ctx context.Context, a *app) error {
	id, err := lists.ParseID(c.List)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	var rows []store.Record
	err = h.store.Records(ctx, id, func(r store.Record) error {
		if !c.All {
			r.Changes = slices.DeleteFunc(slices.Clone(r.Changes), func(c store.Change) bool { return !store.Lasting(c) })
		}
		if c.All || len(r.Changes) > 0 || r.Actor != "" && r.Actor != runnerActor {
			rows = append(rows, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Changes = hideTokens(rows[i].Changes)
	}
	return a.print(rows, func(w io.Writer) {
		fmt.Fprintln(w, "N\tTIME\tHOST\tACTOR\tREASON\tWHAT")
		for _, r := range rows {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", r.N, r.Time.Format(time.RFC3339), r.Host, r.Actor, r.Reason, summary(r))
		}
	})
}

// summary is a record's changes on one line.
func summary(r store.Record) string {
	parts := make([]string, 0, len(r.Changes))
	for _, c := range r.Changes {
		text, err := json.Marshal(c)
		if err != nil {
			text = []byte(err.Error())
		}
		parts = append(parts, c.Kind()+" "+string(text))
	}
	return or(strings.Join(parts, "; "), string(r.Kind))
}
