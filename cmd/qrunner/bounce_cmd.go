package main

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type bounceCmd struct {
	Scan  bounceScanCmd  `cmd:"" help:"What would be found in these messages; nothing is changed, no configuration is needed."`
	Ls    bounceLsCmd    `cmd:"" help:"Members of a list who have bounced."`
	Why   bounceWhyCmd   `cmd:"" help:"How an address came to its score, step by step."`
	Reset bounceResetCmd `cmd:"" help:"Forget an address's bounces, and enable its delivery."`
}

// bounceRow is one member's bounces, for people and programs.
type bounceRow struct {
	List lists.ID `json:"list"`
	store.Bounce
	Threshold score.Points `json:"threshold"`
}

// bounceRows is what a list knows of bounces, of one address or ("") of all.
func bounceRows(st *store.State, a mailaddr.Address) []bounceRow {
	out := []bounceRow{}
	threshold := score.FromSettings(st.List().Settings).Threshold
	for b := range st.Bounces() {
		if a.Null() || b.Address.Key() == a.Key() {
			b.Token = "" // good for an answer in the member's name
			out = append(out, bounceRow{st.ID(), b, threshold})
		}
	}
	return out
}

// status is where a member stands, in few words.
func (r bounceRow) status() string {
	switch {
	case !r.Removed.IsZero():
		return "removed " + r.Removed.UTC().Format("2006-01-02")
	case !r.Disabled.IsZero():
		return fmt.Sprintf("disabled %s, %d notices", r.Disabled.UTC().Format("2006-01-02"), r.Warned)
	case !r.Probed.IsZero():
		return "probe sent " + r.Probed.UTC().Format("2006-01-02")
	}
	return "enabled"
}

// eachList calls fn with the newest state of every list, or of the one that is named.
func (a *app) eachList(ctx context.Context, list string, fn func(*store.State) error) error {
	if list != "" {
		st, err := a.read(ctx, list)
		if err != nil {
			return err
		}
		return fn(st)
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	ids, err := h.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("list the lists: %w", err)
	}
	for _, id := range ids {
		st, err := h.store.Read(ctx, id)
		if errors.Is(err, lists.ErrNoList) {
			continue // deleted since
		}
		if err != nil {
			return fmt.Errorf("read list %s: %w", id, err)
		}
		if err := fn(st); err != nil {
			return err
		}
	}
	return nil
}
