package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"qrunner/lists"
)

type memberFindCmd struct {
	Address string `arg:"" help:"Address, or a regular expression that starts with ^."`
	Role    string `help:"member, owner, moderator, nonmember or all." enum:"member,owner,moderator,nonmember,all" default:"all"`
}

// foundMember is somebody on one list.
type foundMember struct {
	List lists.ID `json:"list"`
	*lists.Member
}

// Run looks at every list of the site. The status is 1 if the address is on none.
func (c *memberFindCmd) Run(ctx context.Context, a *app) error {
	find, err := c.finder()
	if err != nil {
		return err
	}
	rows := []foundMember{}
	bad := a.everyList(ctx, func(id lists.ID) error {
		st, err := a.house.store.Read(ctx, id)
		if err != nil {
			return err
		}
		for _, role := range roles {
			if c.Role == "all" || c.Role == string(role) {
				for _, m := range find(st.List().Roster, role) {
					rows = append(rows, foundMember{id, m})
				}
			}
		}
		return nil
	})
	err = a.print(rows, func(w io.Writer) {
		if len(rows) > 0 {
			fmt.Fprintln(w, "LIST\tADDRESS\tROLE\tMODE\tSTATUS\tACTION\tNAME\tSINCE\tWHY")
		}
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.List, memberLine(r.Member), r.Since.Format(time.DateOnly), statusWhy(r.Member))
		}
	})
	switch {
	case bad != nil || err != nil:
		return errors.Join(bad, err)
	case len(rows) == 0:
		return fmt.Errorf("%s is on no list", c.Address)
	}
	return nil
}

// statusWhy is the reason of a delivery status, and since when.
func statusWhy(m *lists.Member) string {
	if m.Status == "" || m.Status == lists.StatusEnabled {
		return ""
	}
	out := m.StatusWhy
	if m.StatusSince.Unix() > 0 {
		out = strings.TrimSpace(m.StatusSince.Format(time.DateOnly) + " " + out)
	}
	return out
}

// finder makes a search of a roster out of what was asked for.
func (c *memberFindCmd) finder() (func(lists.Roster, lists.Role) []*lists.Member, error) {
	if strings.HasPrefix(c.Address, "^") {
		pattern, err := lists.ParsePatterns(c.Address)
		if err != nil || len(pattern) != 1 {
			return nil, &usageError{fmt.Errorf("%s: %w", c.Address, err)}
		}
		return func(r lists.Roster, role lists.Role) (out []*lists.Member) {
			for m := range r.All(role) {
				if pattern[0].Match(m.Address) {
					out = append(out, m)
				}
			}
			return out
		}, nil
	}
	who, err := parseAddress(c.Address)
	if err != nil {
		return nil, err
	}
	return func(r lists.Roster, role lists.Role) []*lists.Member {
		if m, ok := r.Find(role, who); ok {
			return []*lists.Member{m}
		}
		return nil
	}, nil
}
