package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/trace"
)

type digestSendCmd struct {
	List string `arg:"" help:"Posting address."`
}

// Run hands the digest over to the delivery queue, full or not.
func (c *digestSendCmd) Run(ctx context.Context, a *app) error {
	var o *queue.Outcome
	err := a.with(ctx, c.List, "digest send", func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return err
		}
		now := time.Now()
		id := "digest." + now.UTC().Format("20060102T150405.000000")
		var err error
		if o, err = h.stages().SendDigest(ctx, l.State(), now, id); err != nil || len(o.Changes) == 0 {
			return err
		}
		attempt := h.spool.NewAttempt(l)
		if err := attempt.Add(ctx, nil, o); err != nil {
			return err
		}
		if err := attempt.Commit(ctx, by("digest send")); err != nil {
			return err
		}
		h.trace.Add(ctx, trace.Event{Trace: id, List: l.ID(), Event: o.Event, Detail: o.Reason})
		h.flushTrace(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	return a.print(map[string]string{"event": o.Event, "detail": o.Reason}, func(w io.Writer) { fmt.Fprintln(w, o.Reason) })
}

type digestBumpCmd struct {
	List string `arg:"" help:"Posting address."`
	To   string `help:"The number that the next digest gets; default: the first of a new volume." placeholder:"VOLUME.ISSUE"`
}

// Run changes the numbers; the daemon goes on from them.
func (c *digestBumpCmd) Run(ctx context.Context, a *app) error {
	return a.change(ctx, c.List, "digest bump", func(st *store.State) ([]store.Change, error) {
		d := st.Digest()
		next := store.SetDigest{Volume: d.Volume + 1}
		if c.To != "" {
			volume, issue, ok := strings.Cut(c.To, ".")
			v, verr := strconv.Atoi(volume)
			i, ierr := strconv.Atoi(issue)
			if !ok || verr != nil || ierr != nil || v < 1 || i < 1 {
				return nil, &usageError{fmt.Errorf("%q is no number of a digest such as 12.1", c.To)}
			}
			next.Volume, next.Issue = v, i-1
		}
		return []store.Change{next}, nil
	})
}
