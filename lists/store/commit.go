package store

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/locking"
)

// commitTries bounds how often one commit fences again.
const commitTries = 4

// Commit makes the changes, all or none, in order. nil: they are in the log, on
// stable storage, for good; State has them. A change that does not fit the state is
// refused by its own error (ErrMemberExists and so on). ErrFenced: nothing changed;
// see there. ErrUnknown: see there. Any other error: nothing changed, and the
// commit may be tried again.
func (h *Holder) Commit(ctx context.Context, by By, cs ...Change) error {
	return h.commit(ctx, KindCommit, by, cs)
}

func (h *Holder) commit(ctx context.Context, kind RecordKind, by By, cs Changes) error {
	for range commitTries {
		r := &Record{Kind: kind, Actor: by.Actor, Reason: by.Reason, Changes: cs}
		data, d, err := h.prepare(r)
		if err != nil {
			return err
		}
		done, err := h.append(ctx, data, d)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("commit to list %s: %w", h.id, ErrFenced)
}

// prepare makes the record and the state after it. What is applied is the record
// as it will be read, so that the state here is the one that everybody gets.
func (h *Holder) prepare(r *Record) (data []byte, d *draft, err error) {
	r.N, r.Token = h.state.version+1, h.token
	r.Time, r.Host = h.s.now(), h.s.Host
	if data, err = encodeRecord(r); err != nil {
		return nil, nil, err
	}
	read, err := decodeRecord(data)
	if err != nil {
		return nil, nil, err
	}
	d = h.state.edit()
	d.begin(read)
	for _, c := range read.Changes {
		if err := c.check(&d.State); err != nil {
			return nil, nil, fmt.Errorf("list %s: %w", h.id, err)
		}
		c.apply(d)
	}
	return data, d, nil
}

// append publishes a prepared record. done: it is in the log for good, and d is the
// state. Neither done nor an error: the number was taken, the grant has been renewed,
// nothing but fences is new, and the record may be prepared again.
func (h *Holder) append(ctx context.Context, data []byte, d *draft) (done bool, err error) {
	if h.broken != nil {
		return false, h.broken
	}
	if err := context.Cause(h.lease.Context()); err != nil {
		return false, h.lost(err)
	}
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	temp, err := h.s.writeRecord(h.gen.dir(), data)
	if err != nil {
		return false, h.gone(ctx, err)
	}
	got, err := place(h.s.FS, temp, h.gen.dir().record(d.version))
	if got == placed {
		// It counts only if no collector has passed us: then our own record before it
		// would be gone.
		var chained bool
		if chained, err = linked(h.s.FS, h.last); chained {
			h.advance(temp, d)
			return true, nil
		}
		if err != nil {
			got = unknown
		}
	}
	switch got {
	case refused:
		h.s.drop(temp)
		return false, h.gone(ctx, err)
	case unknown:
		return h.settle(ctx, temp, err)
	}
	h.s.drop(temp)
	return false, h.renew(ctx)
}

// advance takes note of a record that is in the log.
func (h *Holder) advance(temp string, d *draft) {
	h.s.drop(h.last)
	h.last = temp
	d.seal(&h.s.Config)
	h.state = &d.State
	h.s.cache.setState(h.state)
}

// renew goes through the grant sequence again after the number was taken.
func (h *Holder) renew(ctx context.Context) error {
	before := h.state
	err := h.regrant(ctx)
	switch {
	case errors.Is(err, locking.ErrLost), errors.Is(err, locking.ErrReleased), errors.Is(err, lists.ErrNoList):
		return h.lost(err)
	case err != nil:
		return err // the holder is as it was
	case h.state.incarnation != before.incarnation || h.state.changed != before.changed:
		return fmt.Errorf("list %s: its state has changed: %w", h.id, ErrFenced)
	}
	return nil
}

// settle learns what became of a record whose publication had an unknown outcome:
// a new fence either stands behind it or has taken its number. Only the link counts
// of our own files are believed.
func (h *Holder) settle(ctx context.Context, temp string, cause error) (done bool, err error) {
	last := h.last
	h.last = "" // kept by us until it was counted
	defer h.s.drop(last)
	defer h.s.drop(temp)
	before := h.state
	err = h.regrant(ctx)
	var there, chained bool
	if err == nil {
		there, err = linked(h.s.FS, temp)
	}
	if err == nil {
		chained, err = linked(h.s.FS, last)
	}
	if err != nil {
		h.broken = fmt.Errorf("list %s: %w: %w", h.id, ErrUnknown, errors.Join(cause, err))
		return false, h.broken
	}
	switch {
	case there && chained:
		return true, nil
	case h.state.changed != before.changed:
		return false, fmt.Errorf("list %s: its state has changed: %w", h.id, ErrFenced)
	}
	return false, nil
}

// lost ends a holder that has lost its list.
func (h *Holder) lost(cause error) error {
	h.broken = fmt.Errorf("list %s: %w: %w: %w", h.id, ErrFenced, locking.ErrLost, cause)
	return h.broken
}

// gone tells a share that refuses from an incarnation that is no longer there.
func (h *Holder) gone(ctx context.Context, err error) error {
	if !again(err) {
		return err
	}
	if now, cerr := h.s.newest(ctx, h.id); cerr == nil && now.N > h.gen.N {
		return h.lost(err)
	}
	return err
}
