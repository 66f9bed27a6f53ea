package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type memberChangeCmd struct {
	Old    string `arg:"" help:"The address that is."`
	New    string `arg:"" help:"The address that shall be."`
	Merge  bool   `help:"Where the new address is on the roster already, only take the old one off."`
	DryRun bool   `help:"Only say what would be done."`
}

// changedMember is what became of an address in one role on one list.
type changedMember struct {
	List lists.ID   `json:"list"`
	Role lists.Role `json:"role"`
	Done string     `json:"done"` // changed, merged, refused
	Why  string     `json:"why,omitempty"`
}

// Run changes the address on every list, in every role, each list by one commit.
// Preferences, moderation and numbers stay; bounces of the old address are forgotten, and
// what the address itself has set (qrunner prefs) moves along. Nobody is asked or told.
func (c *memberChangeCmd) Run(ctx context.Context, a *app) error {
	was, err := parseAddress(c.Old)
	if err != nil {
		return err
	}
	now, err := parseAddress(c.New)
	if err != nil {
		return err
	}
	if was == now {
		return &usageError{errors.New("the addresses are the same")}
	}
	rows := []changedMember{}
	bad := a.everyList(ctx, func(id lists.ID) error {
		more, err := c.list(ctx, a, id, was, now)
		rows = append(rows, more...)
		return err
	})
	if bad == nil && !c.DryRun {
		bad = a.house.moveAddressPrefs(ctx, was, now)
	}
	refused := 0
	err = a.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.List, r.Role, r.Done, r.Why)
		}
	})
	for _, r := range rows {
		if r.Done == "refused" {
			refused++
		}
	}
	switch {
	case bad != nil || err != nil:
		return errors.Join(bad, err)
	case len(rows) == 0:
		return fmt.Errorf("%s is on no list", was)
	case refused > 0:
		return errSilent
	}
	return nil
}

// list changes the address on one list, if it is there.
func (c *memberChangeCmd) list(ctx context.Context, a *app, id lists.ID, was, now mailaddr.Address) ([]changedMember, error) {
	st, err := a.house.store.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, changes := c.decide(st, was, now)
	if len(changes) == 0 || c.DryRun {
		return rows, nil
	}
	err = a.with(ctx, string(id), "member change", func(_ *house, l *store.Holder) error {
		for range changeTries {
			rows, changes = c.decide(l.State(), was, now)
			if len(changes) == 0 {
				return nil
			}
			if err := l.Commit(ctx, by("member change"), changes...); !errors.Is(err, store.ErrFenced) {
				return err
			}
		}
		return store.ErrFenced
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// decide works out what becomes of an address in every role.
func (c *memberChangeCmd) decide(st *store.State, was, now mailaddr.Address) (rows []changedMember, out []store.Change) {
	for _, role := range roles {
		old, ok := st.List().Roster.Find(role, was)
		if !ok || old.Address == now {
			continue
		}
		row := changedMember{List: st.ID(), Role: role, Done: "changed"}
		other, taken := st.List().Roster.Find(role, now)
		taken = taken && other.ID != old.ID // else it is only spelt in another way
		m := *old
		m.Address = now
		why := mayJoin(memberDesk(st, time.Now()), &m)
		switch {
		case taken && c.Merge:
			row.Done = "merged"
			out = append(out, store.DelMember{Role: role, Address: old.Address})
		case taken:
			row.Done, row.Why = "refused", fmt.Sprintf("%s is there already (--merge takes %s off)", now, old.Address)
		case why != nil:
			row.Done, row.Why = "refused", why.Error()
		default:
			if was.Key() != now.Key() {
				if _, had := st.Bounce(m.ID); had {
					out = append(out, store.DropBounce{Member: m.ID})
				}
				if m.Status == lists.StatusByBounces {
					m.Status, m.StatusSince, m.StatusWhy = "", time.Now(), "the address was changed"
				}
			}
			out = append(out, store.SetMember{Member: m})
		}
		rows = append(rows, row)
	}
	return rows, out
}
