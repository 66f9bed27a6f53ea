package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

type memberCmd struct {
	Add    memberAddCmd    `cmd:"" help:"Put addresses on the roster."`
	Del    memberDelCmd    `cmd:"" help:"Take addresses off the roster."`
	Ls     memberLsCmd     `cmd:"" help:"Who is on the roster."`
	Set    memberSetCmd    `cmd:"" help:"Change one member."`
	Find   memberFindCmd   `cmd:"" help:"On which lists an address is, and as what."`
	Change memberChangeCmd `cmd:"" help:"Give somebody another address, on all lists."`
	Import memberImportCmd `cmd:"" help:"Add many from a file, one address a line."`
	Sync   memberSyncCmd   `cmd:"" help:"Make the roster what a file says: add who is missing, remove who is not in it."`
	Invite memberInviteCmd `cmd:"" help:"Ask people whether they want to become members."`
	Export memberExportCmd `cmd:"" help:"Write the roster as member import reads it."`
	Forget memberForgetCmd `cmd:"" help:"Take an address off everything on the share."`
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
	Welcome bool     `help:"Send them, and the owners, what the list's settings say about who joins."`
	memberEdit
}

// Run adds all of the addresses or none. Who is banned, and the list's own addresses, are
// refused.
func (c *memberAddCmd) Run(ctx context.Context, a *app) error {
	if c.Name != nil && len(c.Address) > 1 {
		return &usageError{errors.New("--name is for a single address")}
	}
	var members []lists.Member
	for _, addr := range c.Address {
		m, err := newMember(addr, "", lists.Role(c.Role))
		if err == nil {
			err = c.edit(&m, time.Now())
		}
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	return a.changeMembers(ctx, c.List, "member add", c.Welcome, func(d subscribe.Desk) (res subscribe.Result, err error) {
		for _, m := range members {
			if err := mayJoin(d, &m); err != nil {
				return res, err
			}
			res.Changes = append(res.Changes, store.AddMember{Member: m})
			res.Notices = append(res.Notices, d.Joined(m)...)
		}
		return res, nil
	})
}

type memberDelCmd struct {
	List    string   `arg:"" help:"Posting address."`
	Address []string `arg:"" help:"Addresses to take off."`
	Role    string   `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
	Goodbye bool     `help:"Send them, and the owners, what the list's settings say about who leaves."`
}

// Run removes all of the addresses or none.
func (c *memberDelCmd) Run(ctx context.Context, a *app) error {
	var gone []lists.Member
	for _, addr := range c.Address {
		m, err := newMember(addr, "", lists.Role(c.Role))
		if err != nil {
			return err
		}
		gone = append(gone, m)
	}
	return a.changeMembers(ctx, c.List, "member del", c.Goodbye, func(d subscribe.Desk) (res subscribe.Result, err error) {
		for _, m := range gone {
			if old, ok := d.State.List().Roster.Find(m.Role, m.Address); ok {
				m = *old
			}
			res.Changes = append(res.Changes, store.DelMember{Role: m.Role, Address: m.Address})
			res.Notices = append(res.Notices, d.Left(m)...)
		}
		return res, nil
	})
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
			fmt.Fprintln(w, memberLine(m))
		}
	})
}

func memberLine(m *lists.Member) string {
	return strings.Join([]string{string(m.Address), string(m.Role), or(string(m.Mode), "regular"),
		or(string(m.Status), "enabled"), or(string(m.Action), "-"), m.Name}, "\t")
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
