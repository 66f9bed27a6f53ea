package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue/fanout"
)

type queueVerifyCmd struct {
	Repair bool `help:"Mend what can be mended, after a copy to backup/ on the share: damaged entries to bad/, leavings away."`
}

// Run reads every entry and delivery of all queues. It may run beside daemons: it takes no
// lock, and a repair takes that of the list.
func (c *queueVerifyCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	rows, err := a.verify(ctx, h, h.verifyQueues, c.Repair)
	return a.verified(rows, err)
}

type listVerifyCmd struct {
	List   string `arg:"" optional:"" help:"Posting address; all lists, and the site's own, if left out."`
	Repair bool   `help:"Mend what can be mended, after a copy to backup/ on the share: damaged snapshots and leavings away, held posts without a message dropped."`
}

// Run reads every file of the lists' state, and what it names. It may run beside daemons,
// as queue verify.
func (c *listVerifyCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	ids, err := c.ids(ctx, h)
	if err != nil {
		return err
	}
	var rows []verifyRow
	var errs []error
	for _, id := range ids {
		more, err := a.verify(ctx, h, func(ctx context.Context) ([]store.Finding, error) { return h.verifyList(ctx, id) }, c.Repair)
		rows = append(rows, more...)
		if !errors.Is(err, lists.ErrNoList) || c.List != "" { // deleted meanwhile
			errs = append(errs, err)
		}
	}
	return a.verified(rows, errors.Join(errs...))
}

func (c *listVerifyCmd) ids(ctx context.Context, h *house) ([]lists.ID, error) {
	if c.List == "" {
		ids, err := h.store.Lists(ctx)
		return append([]lists.ID{lists.Site}, ids...), err
	}
	id, err := parseList(c.List)
	if err != nil {
		return nil, &usageError{err}
	}
	return []lists.ID{id}, nil
}

func (h *house) verifyQueues(ctx context.Context) ([]store.Finding, error) {
	found, err := h.spool.Verify(ctx, h.store.Read)
	if err != nil {
		return found, err
	}
	more, err := fanout.Verify(ctx, h.fs)
	return append(found, more...), err
}

func (h *house) verifyList(ctx context.Context, id lists.ID) ([]store.Finding, error) {
	found, err := h.store.Verify(ctx, id)
	if err != nil {
		return found, err
	}
	more, err := h.spool.VerifyFiles(ctx, id, h.store.Read)
	if err != nil && !fsys.Trouble(err) && len(found) > 0 {
		err = nil // the state cannot be read, and why was said
	}
	return append(found, more...), err
}

// verifyRow is a finding and what became of it.
type verifyRow struct {
	store.Finding
	Repaired bool   `json:"repaired,omitempty"`
	Backup   string `json:"backup,omitempty"` // the copy, from the share's root
	Moved    string `json:"moved,omitempty"`  // where the file lies now, likewise
}

// verified prints what was found. The status is 0 only if nothing is left wrong.
func (a *app) verified(rows []verifyRow, err error) error {
	left := 0
	for _, r := range rows {
		if !r.Repaired {
			left++
		}
	}
	if rows == nil {
		rows = []verifyRow{}
	}
	perr := a.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s", r.Kind, r.File, r.Text)
			switch {
			case r.Repaired:
				fmt.Fprintf(w, "; repaired, the copy is %s", or(r.Backup, "not needed"))
				if r.Moved != "" {
					fmt.Fprintf(w, "; it is now %s (queue show bad, queue reseal)", r.Moved)
				}
			case r.Remedy != "":
				fmt.Fprintf(w, "; --repair: %s", r.Remedy)
			}
			fmt.Fprintln(w)
		}
	})
	switch {
	case err != nil || perr != nil:
		return errors.Join(err, perr)
	case left > 0:
		return errSilent
	}
	return nil
}
