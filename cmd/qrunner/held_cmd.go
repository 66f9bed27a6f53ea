package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/stage"
)

type heldCmd struct {
	Ls      heldLsCmd      `cmd:"" help:"What waits."`
	Show    heldShowCmd    `cmd:"" help:"One held message."`
	Accept  heldAcceptCmd  `cmd:"" help:"Let posts pass."`
	Reject  heldRejectCmd  `cmd:"" help:"Send posts back to their posters with a reason."`
	Discard heldDiscardCmd `cmd:"" help:"Drop posts silently."`
}

type heldLsCmd struct {
	List string `arg:"" help:"Posting address."`
}

// Run prints the held posts, oldest first.
func (c *heldLsCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	held := st.Held()
	if held == nil {
		held = []store.HeldPost{}
	}
	for i := range held {
		held[i].Token = "" // good for a decision in a moderator's name
	}
	return a.print(held, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSINCE\tSIZE\tFROM\tSUBJECT\tRULE\tREASON")
		for _, p := range held {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", p.ID, p.Since.Format(time.RFC3339), p.Size, p.From, p.Subject, p.Rule, p.Reason)
		}
	})
}

type heldShowCmd struct {
	List string `arg:"" help:"Posting address."`
	ID   string `arg:"" help:"Held post."`
	Raw  bool   `help:"Only the message, octet for octet."`
}

// Run prints a held message.
func (c *heldShowCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	p, ok := st.HeldPost(c.ID)
	if !ok {
		return fmt.Errorf("%s: %w", c.ID, store.ErrNoHeld)
	}
	e, err := stage.LoadHeld(ctx, a.house.fs, st.List().ID, p)
	if err != nil {
		return fmt.Errorf("read held post %s: %w", c.ID, err)
	}
	return a.showEntry(e, c.Raw)
}

type heldAcceptCmd struct {
	heldPick
}

// Run puts the posts into the pipeline queue.
func (c *heldAcceptCmd) Run(ctx context.Context, a *app) error {
	return a.settleHeld(ctx, "accept", c.heldPick, func(_ *house, _ *lists.List, e *queue.Entry, p store.HeldPost) (*queue.Outcome, error) {
		return stage.ReleaseHeld(e, p, actor()), nil
	})
}

type heldRejectCmd struct {
	heldPick
	Reason string `help:"Why, for the poster." default:"The list's moderators have rejected your post."`
}

// Run sends each poster a notice with the reason.
func (c *heldRejectCmd) Run(ctx context.Context, a *app) error {
	return a.settleHeld(ctx, "reject", c.heldPick, func(h *house, l *lists.List, e *queue.Entry, p store.HeldPost) (*queue.Outcome, error) {
		return h.stages().RejectHeld(ctx, l, e, p, stage.Decision{By: actor(), Why: c.Reason})
	})
}

type heldDiscardCmd struct {
	heldPick
}

// Run drops the posts.
func (c *heldDiscardCmd) Run(ctx context.Context, a *app) error {
	return a.settleHeld(ctx, "discard", c.heldPick, func(_ *house, _ *lists.List, e *queue.Entry, p store.HeldPost) (*queue.Outcome, error) {
		return stage.DiscardHeld(e, p, actor()), nil
	})
}

// settling makes what becomes of a held post. The entry is nil if it cannot be read and the
// verb is discard.
type settling func(*house, *lists.List, *queue.Entry, store.HeldPost) (*queue.Outcome, error)

// settleHeld makes one commit of what becomes of the posts: all or none, but for those
// whose message is damaged or gone. These are named, and stay.
func (a *app) settleHeld(ctx context.Context, verb string, which heldPick, settle settling) error {
	if err := which.check(); err != nil {
		return err
	}
	n, bad := 0, error(nil)
	err := a.with(ctx, which.List, "held "+verb, func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return err
		}
		posts, err := which.pick(l.State(), time.Now())
		if err != nil || len(posts) == 0 {
			return err
		}
		attempt := h.spool.NewAttempt(l)
		var told []queue.Told
		for _, p := range posts {
			e, err := stage.LoadHeld(ctx, h.fs, l.ID(), p)
			if err != nil && verb != "discard" {
				if err = fmt.Errorf("read held post %s: %w", p.ID, err); stage.Unreadable(err) {
					bad = errors.Join(bad, fmt.Errorf("%w: restore it from a backup, or use held discard", err))
					continue
				}
				return err
			}
			o, err := settle(h, l.State().List(), e, p)
			if err != nil {
				return err
			}
			if err := attempt.Add(ctx, nil, o); err != nil {
				return fmt.Errorf("held post %s: %w", p.ID, err)
			}
			told = append(told, o.Told...)
		}
		if attempt.Len() == 0 {
			return nil
		}
		if err := attempt.Commit(ctx, by("held "+verb)); err != nil {
			return err
		}
		n = attempt.Len()
		h.tell(ctx, l.ID(), told)
		h.flushTrace(ctx)
		return nil
	})
	if err != nil {
		return errors.Join(err, bad)
	}
	return errors.Join(bad, a.print(map[string]int{verb + "ed": n}, func(w io.Writer) { fmt.Fprintf(w, "%d %sed\n", n, verb) }))
}
