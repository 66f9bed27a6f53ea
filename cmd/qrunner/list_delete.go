package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/spool"
)

type listDeleteCmd struct {
	List    string `arg:"" help:"Posting address."`
	Discard bool   `help:"Delete although mail is queued or held: queued mail goes to shunt, held posts and those that wait for a digest are dropped."`
	Yes     bool   `help:"Do not ask."`
}

// Run deletes a list. It refuses while mail of the list is on its way.
func (c *listDeleteCmd) Run(ctx context.Context, a *app) error {
	id, err := lists.ParseID(c.List)
	if err != nil {
		return err
	}
	if !c.Yes {
		return &usageError{fmt.Errorf("this deletes %s with its roster, settings and log; its archive stays: say --yes", id)}
	}
	parked := 0
	err = a.with(ctx, c.List, "list delete", func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return fmt.Errorf("recover list %s: %w", id, err)
		}
		if parked, err = h.clear(ctx, l, c.Discard); err != nil {
			return err
		}
		if err := h.spool.Tell(ctx, l, by("list delete")); err != nil {
			return err
		}
		if err := l.Delete(ctx, by("list delete")); err != nil {
			return fmt.Errorf("delete list %s: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.print(map[string]any{"deleted": id, "shunted": parked}, func(w io.Writer) {
		fmt.Fprintf(w, "deleted %s\n", id)
		if parked > 0 {
			fmt.Fprintf(w, "%s went to shunt\n", count(parked, "message"))
		}
	})
}

// clear makes sure that no mail of the list is on its way: it refuses, or with
// discard parks what is queued or being delivered and drops what is held.
func (h *house) clear(ctx context.Context, l *store.Holder, discard bool) (parked int, err error) {
	sending, err := h.delivering(ctx, l.ID())
	if err != nil {
		return 0, err
	}
	if len(sending) > 0 && !discard {
		return 0, fmt.Errorf("%s is delivering %s: wait until that is done (qrunner queue ls), or say --discard", l.ID(), count(len(sending), "post"))
	}
	for _, d := range sending {
		if err := d.park(h, l.ID()); err != nil {
			return 0, fmt.Errorf("park delivery %s: %w", d.id, err)
		}
	}
	attempt := h.spool.NewAttempt(l)
	queued := 0
	for _, q := range queue.ListQueues {
		ids, err := h.spool.IDs(ctx, q, l.ID())
		if err != nil {
			return 0, err
		}
		queued += len(ids)
		if !discard {
			continue
		}
		for _, id := range ids {
			e, err := h.spool.Load(ctx, q, l.ID(), id)
			if err != nil {
				return 0, fmt.Errorf("load queued entry: %w", err)
			}
			if err := attempt.Add(ctx, e, &queue.Outcome{Fate: queue.FateShunt, Reason: "the list was deleted", Event: "shunted"}); err != nil {
				return 0, fmt.Errorf("park queued entry: %w", err)
			}
		}
	}
	heldPosts := l.State().Held()
	if collected := len(l.State().Digest().Posts); !discard && queued+len(heldPosts)+collected > 0 {
		return 0, fmt.Errorf("%s has %s queued, %d held and %d waiting for a digest: deal with them, or say --discard", l.ID(), count(queued, "message"), len(heldPosts), collected)
	}
	if err := dropWaiting(ctx, attempt, l.State()); err != nil {
		return 0, err
	}
	return queued + len(sending), attempt.Commit(ctx, by("list delete"))
}

// dropWaiting drops held posts, and those that wait for a digest.
func dropWaiting(ctx context.Context, attempt *spool.Attempt, st *store.State) error {
	var drop []store.Change
	for _, p := range st.Digest().Posts {
		drop = append(drop, store.DropDigest{ID: p.ID})
	}
	for _, p := range st.Held() {
		drop = append(drop, store.DropHeld{ID: p.ID})
	}
	for _, one := range drop {
		if err := attempt.Add(ctx, nil, &queue.Outcome{Event: "discarded", Changes: []store.Change{one}}); err != nil {
			return fmt.Errorf("drop waiting post: %w", err)
		}
	}
	return nil
}

// delivery is a fan-out of a list; waiting is its name in retry/, or empty.
type delivery struct {
	id      queue.ID
	waiting string
}

func (d delivery) park(h *house, list lists.ID) error {
	if d.waiting != "" {
		return fanout.ParkWaiting(h.fs, d.waiting, list, d.id)
	}
	err := fanout.Park(h.fs, list, d.id, "the list was deleted")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // finished meanwhile
	}
	return err
}

// delivering names the list's fan-outs.
func (h *house) delivering(ctx context.Context, id lists.ID) ([]delivery, error) {
	out, err := h.entries(queue.Out, id)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	waiting, err := h.retryRows(ctx)
	if err != nil {
		return nil, fmt.Errorf("list waiting deliveries: %w", err)
	}
	var all []delivery
	for _, e := range out {
		all = append(all, delivery{id: e})
	}
	for _, r := range waiting {
		if r.List == id {
			all = append(all, delivery{r.IDs[0], spool.RetryName(r.Due, r.IDs[0])})
		}
	}
	return all, nil
}
