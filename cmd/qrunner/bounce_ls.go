package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"qrunner/lists/bounces/score"
)

type bounceLsCmd struct {
	List string `arg:"" help:"Posting address."`
}

// Run prints who has bounced, the highest score first, and the storms of the last days.
func (c *bounceLsCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	rows := bounceRows(st, "")
	slices.SortStableFunc(rows, func(x, y bounceRow) int { return cmp.Compare(y.Score, x.Score) })
	for i := range rows {
		rows[i].Steps = nil
	}
	storms := st.Storms()
	if storms == nil {
		storms = []score.Storm{}
	}
	return a.print(map[string]any{"members": rows, "storms": storms}, func(w io.Writer) {
		fmt.Fprintln(w, "ADDRESS\tSCORE\tLAST\tKIND\tREFUSED\tSTATUS")
		for _, r := range rows {
			last := "-"
			if !r.Seen.IsZero() {
				last = r.Seen.UTC().Format(time.DateOnly)
			}
			fmt.Fprintf(w, "%s\t%s of %s\t%s\t%s\t%d\t%s\n", r.Address, r.Score, r.Threshold, last, cmp.Or(string(r.Record.Kind), "-"), r.Refused.Count, r.status())
		}
		for _, s := range storms {
			fmt.Fprintf(w, "storm at %s (%s), %d members and more, from %s to %s: not scored\n", s.Domain, s.Kind, s.Members,
				s.Since.UTC().Format(time.RFC3339), s.Until.UTC().Format(time.RFC3339))
		}
	})
}
