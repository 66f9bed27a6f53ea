package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/spool"
	"qrunner/queue/trace"
)

// One commit takes at most this much; careful mode takes one entry. Bounces come by the
// thousand and change little, so more of them go into one.
const (
	batchWeight = 512
	batchOctets = 8 << 20
	heavy       = 8 // what an entry weighs
	light       = 1 // what a bounce weighs
)

func weight(q queue.Name) int {
	if q == queue.Bounces {
		return light
	}
	return heavy
}

// maxMarks is how many tries an entry gets before it is parked in shunt/.
const maxMarks = 3

// slice is the work on one list under one grant.
type slice struct {
	r       *Runner
	h       *store.Holder
	list    lists.ID
	careful bool // the grant before ended without a release: an entry may be poison
	ends    time.Time
	left    map[queue.ID]error // entries that cannot be done for now
}

// batch is what one commit will take.
type batch struct {
	attempt *spool.Attempt
	state   *store.State
	entries int
	weight  int
	octets  int
	events  []outcome
}

// outcome is kept for the trace until the commit has made it true.
type outcome struct {
	entry *queue.Entry
	out   *queue.Outcome
}

// run works until nothing is left, the slice is over, stop ends (drain), or trouble.
func (s *slice) run(stop, ctx context.Context) (more bool, err error) {
	if err := s.r.cfg.Spool.Recover(ctx, s.h); err != nil {
		return false, fmt.Errorf("recover list %s: %w", s.list, err)
	}
	for idle := 0; stop.Err() == nil; {
		if time.Now().After(s.ends) {
			return true, nil
		}
		n, err := s.step(stop, ctx)
		if err != nil {
			return false, err
		}
		if n > 0 {
			idle = 0
			continue
		}
		if empty, err := s.tidy(ctx); err != nil || empty {
			return false, err
		}
		for id, err := range s.left {
			return false, &leftError{n: len(s.left), id: id, err: err}
		}
		// What a listing hid until then is found now. What is listed and still not
		// there to be opened (an NFS client may say so for half a minute), or still
		// to be carried out, waits for the next walk.
		if idle++; idle > 1 {
			return false, nil
		}
	}
	return true, nil
}

// leftError: everything is done but entries that cannot be done for now.
type leftError struct {
	n   int
	id  queue.ID
	err error
}

// Error names one of them.
func (e *leftError) Error() string {
	return fmt.Sprintf("%d entries are left, %s for one: %v", e.n, e.id, e.err)
}

// Unwrap gives that one's error.
func (e *leftError) Unwrap() error { return e.err }

// tidy removes the list's empty folders, so that idle lists cost nobody a listing.
func (s *slice) tidy(ctx context.Context) (bool, error) {
	all := true
	for _, q := range queue.ListQueues {
		if s.r.cfg.Stages[q] == nil {
			continue
		}
		empty, err := s.r.cfg.Spool.Tidy(ctx, s.list, q)
		if err != nil {
			return false, fmt.Errorf("tidy queue %s of %s: %w", q, s.list, err)
		}
		all = all && empty
	}
	return all, nil
}

// step takes one batch through one commit; it returns how many entries it took.
func (s *slice) step(stop, ctx context.Context) (int, error) {
	b := &batch{attempt: s.r.cfg.Spool.NewAttempt(s.h), state: s.h.State()}
	var trouble error
	for _, q := range queue.ListQueues {
		stage := s.r.cfg.Stages[q]
		if stage == nil || b.full(s.careful) {
			continue
		}
		if trouble = s.gather(stop, ctx, q, b); trouble != nil {
			break
		}
	}
	// What came before an entry that failed does not wait for it. After a loss of the
	// lease nothing is committed; what is staged, the next grant sweeps.
	if b.entries == 0 || s.h.Context().Err() != nil {
		return 0, trouble
	}
	if err := b.attempt.Commit(ctx, store.By{Actor: "runner", Reason: "queue"}); err != nil {
		return 0, errors.Join(trouble, fmt.Errorf("commit %d entries of %s: %w", b.entries, s.list, err))
	}
	s.tell(ctx, b)
	return b.entries, trouble
}

func (b *batch) full(careful bool) bool {
	return b.weight >= batchWeight || b.octets >= batchOctets || careful && b.entries > 0
}

// gather adds the entries of one queue, oldest first.
func (s *slice) gather(stop, ctx context.Context, q queue.Name, b *batch) error {
	ids, err := s.r.cfg.Spool.IDs(ctx, q, s.list)
	if err != nil {
		return fmt.Errorf("list queue %s of %s: %w", q, s.list, err)
	}
	for _, id := range ids {
		if s.left[id] != nil {
			continue
		}
		if b.full(s.careful) || stop.Err() != nil || time.Now().After(s.ends) {
			return nil
		}
		if err := s.take(ctx, q, id, b); errors.Is(err, errHidden) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// take judges one entry and adds what comes of it to the batch.
func (s *slice) take(ctx context.Context, q queue.Name, id queue.ID, b *batch) error {
	entry, err := s.r.cfg.Spool.Load(ctx, q, s.list, id)
	var corrupt *spool.CorruptError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Nobody else moves entries under our lock.
		if s.r.hidden.waits(id) {
			return errHidden
		}
		return nil
	case errors.As(err, &corrupt):
		if _, err := b.attempt.AddBad(ctx, q, s.list, id); err != nil {
			return err
		}
		b.entries++
		b.weight += heavy
		return nil
	case err != nil:
		// Not for this version, or trouble with this one file: it stays where it is,
		// and the others go on.
		s.left[id] = err
		return nil
	}
	out, err := s.judge(ctx, q, entry, b)
	if q == queue.Archive && errors.Is(err, queue.ErrTrouble) {
		s.left[id] = err // an archive that is down keeps no mail waiting
		return nil
	}
	if err != nil {
		return err
	}
	if err := b.attempt.Add(ctx, entry, out); errors.Is(err, spool.ErrHandedOver) {
		return nil // Recover has to carry it out
	} else if err != nil {
		return fmt.Errorf("stage entry %s: %w", id, err)
	}
	if b.state, err = b.state.With(s.r.cfg.Clock(), out.Changes...); err != nil {
		return fmt.Errorf("apply changes of entry %s: %w", id, err)
	}
	b.entries++
	b.weight += weight(q)
	b.octets += len(entry.Raw)
	b.events = append(b.events, outcome{entry, out})
	return nil
}

// tell traces what the commit has made true, and wakes whoever has work now.
func (s *slice) tell(ctx context.Context, b *batch) {
	queues := map[queue.Name]bool{}
	for _, o := range b.events {
		s.r.cfg.Trace(ctx, event(s.r.cfg.Host, o))
		for _, t := range o.out.Told {
			s.r.cfg.Trace(ctx, trace.Event{Host: s.r.cfg.Host, Trace: t.Trace, MessageID: t.MessageID, List: s.list, Event: t.Event, Detail: t.Reason})
		}
		for _, c := range o.out.Children {
			switch {
			case c.Fanout != nil:
				queues[queue.Out] = true
			case c.Entry != nil:
				queues[c.Entry.Queue] = true
			}
		}
	}
	for q := range queues {
		s.r.cfg.Published(q)
	}
}
