package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// memberEdit is what can be said of somebody on a roster.
type memberEdit struct {
	Name   *string  `help:"Display name."`
	Mode   string   `help:"Delivery mode." enum:"regular,plaintext_digests,mime_digests,summary_digests," default:""`
	Status string   `help:"Delivery status." enum:"enabled,by_user,by_bounces,by_moderator,unknown," default:""`
	Why    string   `help:"Reason for the delivery status."`
	Action string   `help:"Moderation action; default: the list's." enum:"accept,hold,reject,discard,defer,default," default:""`
	Pref   []string `help:"Preference such as receive_own_postings=no; an empty value follows the address's, the list's, the site's again." placeholder:"NAME=VALUE" sep:"none"`
}

// empty reports whether nothing is said.
func (c *memberEdit) empty() bool {
	return c.Name == nil && c.Mode == "" && c.Status == "" && c.Why == "" && c.Action == "" && len(c.Pref) == 0
}

// edit changes m as it is said.
func (c *memberEdit) edit(m *lists.Member, now time.Time) error {
	if c.Name != nil {
		m.Name = *c.Name
	}
	if c.Mode != "" {
		m.Mode = lists.DeliveryMode(c.Mode)
	}
	if c.Status == "" && c.Why != "" {
		return &usageError{errors.New("--why is the reason of a --status")}
	}
	if c.Status != "" {
		m.Status, m.StatusSince, m.StatusWhy = lists.DeliveryStatus(c.Status), now, or(c.Why, "set by "+actor())
	}
	if c.Action != "" {
		m.Action = lists.Action(c.Action)
		if c.Action == "default" {
			m.Action = ""
		}
	}
	var err error
	m.Prefs, err = editPrefs(m.Prefs, c.Pref, lists.CheckPref)
	return err
}

// editPrefs is a set of preferences after changes such as NAME=VALUE.
func editPrefs(old map[string]string, edits []string, check func(name, value string) error) (map[string]string, error) {
	out := maps.Clone(old)
	for _, p := range edits {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, &usageError{errors.New(p + " is not NAME=VALUE")}
		}
		if err := check(name, value); err != nil {
			return nil, err
		}
		if value == "" {
			delete(out, name)
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}

type memberSetCmd struct {
	List    string `arg:"" help:"Posting address."`
	Address string `arg:"" help:"Whom to change."`
	Role    string `help:"In which role." enum:"member,owner,moderator,nonmember" default:"member"`
	memberEdit
}

// Run changes one line of the roster.
func (c *memberSetCmd) Run(ctx context.Context, a *app) error {
	who, err := mailaddr.Parse(c.Address)
	if err != nil {
		return err
	}
	if c.empty() {
		return &usageError{errors.New("nothing to change was said")}
	}
	return a.change(ctx, c.List, "member set", func(st *store.State) ([]store.Change, error) {
		old, ok := st.List().Roster.Find(lists.Role(c.Role), who)
		if !ok {
			return nil, fmt.Errorf("%s %s: %w", c.Role, who, store.ErrNoMember)
		}
		m := *old
		if err := c.edit(&m, time.Now()); err != nil {
			return nil, err
		}
		return []store.Change{store.SetMember{Member: m}}, nil
	})
}
