package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type prefsCmd struct {
	Ls   prefsLsCmd   `cmd:"" help:"Who has set something for all lists."`
	Show prefsShowCmd `cmd:"" help:"What counts for an address, and where that comes from."`
	Set  prefsSetCmd  `cmd:"" help:"Set something for an address on all lists."`
}

// addressRow is what an address has set for all lists.
type addressRow struct {
	Address mailaddr.Address  `json:"address"`
	Prefs   map[string]string `json:"prefs"`
}

type prefsLsCmd struct{}

// Run prints the addresses in order.
func (c *prefsLsCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	st, err := h.store.Read(ctx, lists.Site)
	if err != nil {
		return fmt.Errorf("read the site's list: %w", err)
	}
	rows := []addressRow{}
	for m := range st.List().Roster.All(lists.RoleMember) {
		rows = append(rows, addressRow{m.Address, m.Prefs})
	}
	return a.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t", r.Address)
			for _, name := range slices.Sorted(maps.Keys(r.Prefs)) {
				fmt.Fprintf(w, "%s=%s ", name, r.Prefs[name])
			}
			fmt.Fprintln(w)
		}
	})
}

type prefsShowCmd struct {
	Address string `arg:"" help:"Address."`
	List    string `arg:"" optional:"" help:"On this list; all that the address is a member of, if left out."`
}

// prefRow is a preference that counts, and its level: member, address, list, domain, site,
// style or built in.
type prefRow struct {
	List   lists.ID `json:"list"`
	Name   string   `json:"name"`
	Value  string   `json:"value"`
	Source string   `json:"source"`
}

// Run prints every preference of the address on its lists. The status is 1 if it is on none.
func (c *prefsShowCmd) Run(ctx context.Context, a *app) error {
	who, err := parseAddress(c.Address)
	if err != nil {
		return err
	}
	rows := []prefRow{}
	err = a.eachList(ctx, c.List, func(st *store.State) error {
		l := st.List()
		m, ok := l.Roster.Find(lists.RoleMember, who)
		if !ok || l.ID == lists.Site {
			return nil
		}
		for _, p := range slices.Concat(lists.AddressPrefTable, lists.PrefTable) {
			value, source := l.Pref(m, p.Name)
			rows = append(rows, prefRow{l.ID, p.Name, value, source})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.List, r.Name, r.Value, r.Source)
		}
	}); err != nil || len(rows) > 0 {
		return err
	}
	return fmt.Errorf("%s: %w", who, store.ErrNoMember)
}

type prefsSetCmd struct {
	Address string   `arg:"" help:"Address."`
	Pref    []string `arg:"" help:"NAME=VALUE, such as delivery_status=by_user; an empty value takes it back."`
}

// Run changes what the address has set. What it sets for one list counts more.
func (c *prefsSetCmd) Run(ctx context.Context, a *app) error {
	who, err := parseAddress(c.Address)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	n := 0
	err = h.withSite(ctx, "prefs set", func(st *store.State) ([]store.Change, error) {
		old, _ := st.List().Roster.Find(lists.RoleMember, who)
		var was map[string]string
		if old != nil {
			was = old.Prefs
		}
		now, err := editPrefs(was, c.Pref, lists.CheckAddressPref)
		if err != nil || maps.Equal(was, now) {
			return nil, err
		}
		n = len(c.Pref)
		return addressChange(old, who, now), nil
	})
	if err != nil {
		return err
	}
	return a.print(map[string]int{"changes": n}, func(w io.Writer) { fmt.Fprintf(w, "%d changed\n", n) })
}

// addressChange keeps prefs for an address; none: the address is not kept.
func addressChange(old *lists.Member, who mailaddr.Address, prefs map[string]string) []store.Change {
	m := lists.Member{Address: who, Role: lists.RoleMember, Prefs: prefs}
	switch {
	case len(prefs) == 0 && old == nil:
		return nil
	case len(prefs) == 0:
		return []store.Change{store.DelMember{Role: old.Role, Address: old.Address}}
	case old == nil:
		return []store.Change{store.AddMember{Member: m}}
	}
	m.ID, m.Since = old.ID, old.Since
	return []store.Change{store.SetMember{Member: m}}
}

// moveAddressPrefs gives an address what another had set; what it has set itself stays.
func (h *house) moveAddressPrefs(ctx context.Context, was, now mailaddr.Address) error {
	return h.withSite(ctx, "member change", func(st *store.State) ([]store.Change, error) {
		r := st.List().Roster
		old, ok := r.Find(lists.RoleMember, was)
		if !ok {
			return nil, nil
		}
		if there, ok := r.Find(lists.RoleMember, now); ok && there.ID != old.ID {
			return []store.Change{store.DelMember{Role: old.Role, Address: old.Address}}, nil
		}
		return addressChange(old, now, old.Prefs), nil
	})
}

// withSite commits what decide makes of the state of the site's own list.
func (h *house) withSite(ctx context.Context, note string, decide func(*store.State) ([]store.Change, error)) error {
	st, err := h.store.Read(ctx, lists.Site)
	if err != nil {
		return fmt.Errorf("read the site's list: %w", err)
	}
	if changes, err := decide(st); err != nil || len(changes) == 0 {
		return err
	}
	l, err := h.store.Lock(ctx, lists.Site, note)
	if err != nil {
		return fmt.Errorf("lock the site's list: %w", err)
	}
	for range changeTries {
		var changes []store.Change
		if changes, err = decide(l.State()); err == nil && len(changes) > 0 {
			err = l.Commit(ctx, by(note), changes...)
		}
		if !errors.Is(err, store.ErrFenced) {
			break
		}
	}
	return h.giveBack(ctx, l, err)
}
