package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type memberCmd struct {
	Add    memberAddCmd    `cmd:"" help:"Put addresses on the roster."`
	Del    memberDelCmd    `cmd:"" help:"Take addresses off the roster."`
	Ls     memberLsCmd     `cmd:"" help:"Who is on the roster."`
	Set    memberSetCmd    `cmd:"" help:"Change one member."`
	Import memberImportCmd `cmd:"" help:"Add many from a file, one address a line."`
	Export memberExportCmd `cmd:"" help:"Write the roster as member import reads it."`
}

// newMember parses an address into a roster line.
func newMember(addr, name string, role lists.Role) (lists.Member, error) {
	a, err := mailaddr.Parse(strings.TrimSpace(addr))
	if err != nil {
		return lists.Member{}, err
	}
	return lists.Member{Address: a, Name: name, Role: role}, nil
}

type memberAddCmd struct {
	List    string   `arg:"" help:"Posting address."`
	Address []string `arg:"" help:"Addresses to add."`
	Role    string   `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
	Name    string   `help:"Display name, for a single address."`
}

// Run adds all of the addresses or none.
func (c *memberAddCmd) Run(ctx context.Context, a *app) error {
	var changes []store.Change
	for _, addr := range c.Address {
		m, err := newMember(addr, c.Name, lists.Role(c.Role))
		if err != nil {
			return err
		}
		changes = append(changes, store.AddMember{Member: m})
	}
	return a.change(ctx, c.List, "member add", func(*store.State) ([]store.Change, error) { return changes, nil })
}

type memberDelCmd struct {
	List    string   `arg:"" help:"Posting address."`
	Address []string `arg:"" help:"Addresses to take off."`
	Role    string   `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
}

// Run removes all of the addresses or none.
func (c *memberDelCmd) Run(ctx context.Context, a *app) error {
	var changes []store.Change
	for _, addr := range c.Address {
		m, err := newMember(addr, "", lists.Role(c.Role))
		if err != nil {
			return err
		}
		changes = append(changes, store.DelMember{Role: m.Role, Address: m.Address})
	}
	return a.change(ctx, c.List, "member del", func(*store.State) ([]store.Change, error) { return changes, nil })
}

type memberLsCmd struct {
	List string `arg:"" help:"Posting address."`
	Role string `help:"member, owner, moderator, nonmember or all." enum:"member,owner,moderator,nonmember,all" default:"all"`
}

// Run prints the roster in order of address.
func (c *memberLsCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	rows := []*lists.Member{}
	for _, r := range roles {
		if c.Role != "all" && c.Role != string(r) {
			continue
		}
		for m := range st.List().Roster.All(r) {
			rows = append(rows, m)
		}
	}
	return a.print(rows, func(w io.Writer) {
		fmt.Fprintln(w, "ADDRESS\tROLE\tMODE\tSTATUS\tACTION\tNAME")
		for _, m := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Address, m.Role, or(string(m.Mode), "regular"),
				or(string(m.Status), "enabled"), or(string(m.Action), "-"), m.Name)
		}
	})
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

type memberSetCmd struct {
	List    string   `arg:"" help:"Posting address."`
	Address string   `arg:"" help:"Whom to change."`
	Role    string   `help:"In which role." enum:"member,owner,moderator,nonmember" default:"member"`
	Name    *string  `help:"Display name."`
	Mode    string   `help:"Delivery mode." enum:"regular,plaintext_digests,mime_digests,summary_digests," default:""`
	Status  string   `help:"Delivery status." enum:"enabled,by_user,by_bounces,by_moderator," default:""`
	Action  string   `help:"Moderation action; default: the list's." enum:"accept,hold,reject,discard,defer,default," default:""`
	Pref    []string `help:"Preference such as receive_own_postings=no; an empty value follows the list again." placeholder:"NAME=VALUE" sep:"none"`
}

// Run changes one line of the roster.
func (c *memberSetCmd) Run(ctx context.Context, a *app) error {
	who, err := mailaddr.Parse(c.Address)
	if err != nil {
		return err
	}
	return a.change(ctx, c.List, "member set", func(st *store.State) ([]store.Change, error) {
		old, ok := st.List().Roster.Find(lists.Role(c.Role), who)
		if !ok {
			return nil, fmt.Errorf("%s %s: %w", c.Role, who, store.ErrNoMember)
		}
		m := *old
		if err := c.edit(&m); err != nil {
			return nil, err
		}
		return []store.Change{store.SetMember{Member: m}}, nil
	})
}

func (c *memberSetCmd) edit(m *lists.Member) error {
	if c.Name != nil {
		m.Name = *c.Name
	}
	if c.Mode != "" {
		m.Mode = lists.DeliveryMode(c.Mode)
	}
	if c.Status != "" {
		m.Status, m.StatusWhy = lists.DeliveryStatus(c.Status), "set by "+actor()
	}
	if c.Action != "" {
		m.Action = lists.Action(c.Action)
		if c.Action == "default" {
			m.Action = ""
		}
	}
	prefs := map[string]string{}
	for k, v := range m.Prefs {
		prefs[k] = v
	}
	for _, p := range c.Pref {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return &usageError{errors.New(p + " is not NAME=VALUE")}
		}
		if err := lists.CheckPref(name, value); err != nil {
			return err
		}
		prefs[name] = value
		if value == "" {
			delete(prefs, name)
		}
	}
	m.Prefs = prefs
	return nil
}
