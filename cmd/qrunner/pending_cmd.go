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

type pendingCmd struct {
	Ls      pendingLsCmd      `cmd:"" help:"What waits: for an address to confirm it, or for a moderator."`
	Accept  pendingAcceptCmd  `cmd:"" help:"Grant requests that wait for a moderator."`
	Reject  pendingRejectCmd  `cmd:"" help:"Refuse requests; whoever asked reads why."`
	Discard pendingDiscardCmd `cmd:"" help:"Drop requests; nobody is told."`
}

type pendingLsCmd struct {
	List string `arg:"" help:"Posting address."`
}

// pendingRow is a request as it is shown: without its token.
type pendingRow struct {
	ID      string             `json:"id"`
	Since   time.Time          `json:"since"`
	Until   time.Time          `json:"until"`
	Kind    store.PendingKind  `json:"kind"`
	Waits   store.PendingState `json:"waits_for"`
	Address mailaddr.Address   `json:"address"`
	Name    string             `json:"name,omitempty"`
	Request string             `json:"request"`
	By      string             `json:"by,omitempty"`
}

// Run prints the requests, oldest first.
func (c *pendingLsCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	now, rows := time.Now(), []pendingRow{}
	for _, p := range st.Pendings() {
		if p.Until.After(now) {
			rows = append(rows, pendingRow{p.ID, p.Since, p.Until, p.Kind, p.State, p.Address, p.Name, subscribe.Describe(p), p.By})
		}
	}
	return a.print(rows, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSINCE\tUNTIL\tWAITS FOR\tADDRESS\tREQUEST\tBY")
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Since.Format(time.RFC3339), r.Until.Format(time.RFC3339), r.Waits, r.Address, strings.ReplaceAll(r.Request, "\n", "; "), r.By)
		}
	})
}

// pendingPick says which requests are meant.
type pendingPick struct {
	List string   `arg:"" help:"Posting address."`
	ID   []string `arg:"" optional:"" help:"Requests, as pending ls names them."`
	All  bool     `help:"All that wait for a moderator."`
}

type pendingAcceptCmd struct{ pendingPick }

// Run does what was asked for.
func (c *pendingAcceptCmd) Run(ctx context.Context, a *app) error {
	return a.decidePending(ctx, "accept", lists.ActionAccept, c.pendingPick, "")
}

type pendingRejectCmd struct {
	pendingPick
	Reason string `help:"Why, for whoever asked."`
}

// Run tells each who asked.
func (c *pendingRejectCmd) Run(ctx context.Context, a *app) error {
	return a.decidePending(ctx, "reject", lists.ActionReject, c.pendingPick, c.Reason)
}

type pendingDiscardCmd struct{ pendingPick }

// Run drops the requests.
func (c *pendingDiscardCmd) Run(ctx context.Context, a *app) error {
	return a.decidePending(ctx, "discard", lists.ActionDiscard, c.pendingPick, "")
}

// decidePending decides about each request by a commit of its own. The first that cannot
// be decided about ends it.
func (a *app) decidePending(ctx context.Context, verb string, action lists.Action, which pendingPick, why string) error {
	if which.All == (len(which.ID) > 0) {
		return &usageError{errors.New("either name requests, or say --all")}
	}
	n := 0
	err := a.with(ctx, which.List, "pending "+verb, func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return err
		}
		ids := which.ID
		for _, p := range l.State().Pendings() {
			if which.All && p.State == store.PendingModerate && p.Until.After(time.Now()) {
				ids = append(ids, p.ID)
			}
		}
		for _, id := range ids {
			if err := h.decide(ctx, l, id, action, why); err != nil {
				return err
			}
			n++
		}
		h.flushTrace(ctx)
		return nil
	})
	if perr := a.print(map[string]int{verb + "ed": n}, func(w io.Writer) { fmt.Fprintf(w, "%d %sed\n", n, verb) }); err == nil {
		err = perr
	}
	return err
}

// decide decides about one request.
func (h *house) decide(ctx context.Context, l *store.Holder, id string, action lists.Action, why string) error {
	return h.atDesk(ctx, l, "pending "+string(action), func(d subscribe.Desk) (subscribe.Result, error) {
		p, ok := d.State.Pending(id, d.At)
		if !ok {
			return subscribe.Result{}, fmt.Errorf("%s: %w", id, store.ErrNoPending)
		}
		res, err := d.Decide(p, action, why)
		if err == nil && res.Event == "refused" && action == lists.ActionAccept {
			err = fmt.Errorf("%s: %s", id, res.Reason)
		}
		return res, err
	})
}
