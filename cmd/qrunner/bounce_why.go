package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"qrunner/lists/bounces/score"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

type bounceWhyCmd struct {
	Address string `arg:"" help:"A member's address, or that of somebody who was removed for bounces."`
	List    string `arg:"" optional:"" help:"Posting address; every list if none is named."`
}

// Run prints the steps that led to a score, oldest first. Of somebody who never bounced
// there is nothing to print, and the status is 66.
func (c *bounceWhyCmd) Run(ctx context.Context, a *app) error {
	addr, err := mailaddr.Parse(c.Address)
	if err != nil {
		return &usageError{err}
	}
	rows := []bounceRow{}
	err = a.eachList(ctx, c.List, func(st *store.State) error {
		rows = append(rows, bounceRows(st, addr)...)
		return nil
	})
	if err != nil {
		return err
	}
	err = a.print(rows, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintf(w, "no bounces of %s are known\n", addr)
		}
		for _, r := range rows {
			printWhy(w, r)
		}
	})
	if err == nil && len(rows) == 0 {
		return &statusError{exitNoInput}
	}
	return err
}

func printWhy(w io.Writer, r bounceRow) {
	fmt.Fprintf(w, "%s on %s: score %s of %s, %s\n", r.Address, r.List, r.Score, r.Threshold, r.status())
	for _, s := range r.Steps {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s%s\n", s.At.UTC().Format(time.RFC3339), s.What, s.Kind, signed(s), s.Score, visible(s.Why), more(s))
	}
}

// signed is what a step changed.
func signed(s score.Step) string {
	switch {
	case s.Points > 0:
		return "+" + s.Points.String()
	case s.Points < 0:
		return s.Points.String()
	}
	return "."
}

func more(s score.Step) string {
	if s.More == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more that day)", s.More)
}
