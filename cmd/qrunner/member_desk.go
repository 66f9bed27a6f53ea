package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/memberfile"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// memberDesk is where an operator hands in what happens to members of a list.
func memberDesk(st *store.State, now time.Time) subscribe.Desk {
	return subscribe.Desk{
		State: st, At: now, Random: rand.Reader, Trusted: true, By: actor(),
		Trace: "member." + now.UTC().Format("20060102T150405.000000"),
	}
}

// mayJoin refuses whoever must not be put on a roster.
func mayJoin(d subscribe.Desk, m *lists.Member) error {
	if m.Role != lists.RoleMember {
		return nil
	}
	return d.Welcome(m.Address)
}

// changeMembers commits what decide makes of the list's state, with the mails about it
// if told so, and says how many changes there were.
func (a *app) changeMembers(ctx context.Context, list, note string, mail bool, decide func(subscribe.Desk) (subscribe.Result, error)) error {
	n := 0
	err := a.with(ctx, list, note, func(h *house, l *store.Holder) error {
		if mail {
			if err := h.spool.Recover(ctx, l); err != nil {
				return err
			}
		}
		for range changeTries {
			d := memberDesk(l.State(), time.Now())
			res, err := decide(d)
			if err != nil {
				return err
			}
			if !mail {
				res.Notices = nil
			}
			err = h.commitResult(ctx, l, d, note, res)
			if !errors.Is(err, store.ErrFenced) {
				n = len(res.Changes)
				return err
			}
		}
		return fmt.Errorf("change list %s: %w", list, store.ErrFenced)
	})
	if err != nil {
		return err
	}
	return a.print(map[string]int{"changes": n}, func(w io.Writer) { fmt.Fprintf(w, "%d changed\n", n) })
}

// commitResult commits changes, with the mails that come of them.
func (h *house) commitResult(ctx context.Context, l *store.Holder, d subscribe.Desk, note string, res subscribe.Result) error {
	if len(res.Changes) == 0 {
		return nil
	}
	if len(res.Notices) == 0 {
		return l.Commit(ctx, by(note), res.Changes...)
	}
	o, err := h.stages().Carry(ctx, d, res)
	if err != nil {
		return err
	}
	attempt := h.spool.NewAttempt(l)
	if err := attempt.Add(ctx, nil, o); err != nil {
		return fmt.Errorf("stage notices: %w", err)
	}
	return attempt.Commit(ctx, by(note))
}

// parseAddress reads an address that somebody typed.
func parseAddress(s string) (mailaddr.Address, error) {
	who, err := mailaddr.Parse(s)
	if err != nil {
		return "", &usageError{err}
	}
	return who, nil
}

// everyList calls fn with every list of the site, by name. A list that cannot be read is
// said and passed over; the status is not 0 then.
func (a *app) everyList(ctx context.Context, fn func(lists.ID) error) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	ids, err := h.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("list the lists: %w", err)
	}
	var bad error
	for _, id := range ids {
		if id == lists.Site {
			continue
		}
		if err := fn(id); err != nil && !errors.Is(err, lists.ErrNoList) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			bad = errors.Join(bad, fmt.Errorf("%s: %w", id, err))
		}
	}
	return bad
}

// refusal reports whether an error is an answer, and no trouble.
func refusal(err error) bool { return errors.As(err, new(*subscribe.Refusal)) }

// mailBatch is how many people one commit of mails is about.
const mailBatch = 500

// rosterWork is what is being done to many people of one role, under the list's lock.
type rosterWork struct {
	*house
	list *store.Holder
	note string
	role lists.Role
}

// tell sends the mails about people who have come or gone, after that was committed.
func (w rosterWork) tell(ctx context.Context, people []memberfile.Person, about func(subscribe.Desk, lists.Member) []subscribe.Notice) error {
	h, l := w.house, w.list
	if err := h.spool.Recover(ctx, l); err != nil {
		return err
	}
	for part := range slices.Chunk(people, mailBatch) {
		d := memberDesk(l.State(), time.Now())
		var res subscribe.Result
		for _, p := range part {
			res.Notices = append(res.Notices, about(d, lists.Member{Address: p.Address, Name: p.Name, Role: w.role})...)
		}
		o, err := h.stages().Carry(ctx, d, res)
		if err != nil {
			return err
		}
		attempt := h.spool.NewAttempt(l)
		if err := attempt.Add(ctx, nil, o); err != nil {
			return fmt.Errorf("stage notices: %w", err)
		}
		if err := attempt.Commit(ctx, by(w.note)); err != nil {
			return err
		}
	}
	return nil
}
