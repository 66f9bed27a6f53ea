package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
	"qrunner/queue/trace"
)

// errStage: the stage itself is at fault (an error that is no trouble of the share,
// a panic, a hang), so it counts against the entry.
type stageError struct {
	err   error
	stack string
}

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

// judge asks the stage. What a stage cannot do three times is parked; what the
// share, the lock or a shutdown prevented is trouble, and counts for nothing.
func (s *slice) judge(ctx context.Context, q queue.Name, e *queue.Entry, b *batch) (*queue.Outcome, error) {
	path := spool.Key(q, s.list, e.ID)
	marks, _ := b.state.Attempt(path)
	if marks.Count >= maxMarks {
		return shunted(cmp.Or(marks.Cause, "the process ended while it was worked on")), nil
	}
	if s.careful {
		if err := s.mark(ctx, path, marks.Count+1, marks.Cause); err != nil {
			return nil, err
		}
		b.state = s.h.State()
	}
	out, err := s.ask(ctx, q, &queue.Work{Entry: e, List: b.state.List(), State: b.state})
	var fault *stageError
	switch {
	case errors.As(err, &fault):
		marks.Count++
		marks.Cause = fault.Error()
		s.r.cfg.Log.ErrorContext(ctx, "stage failed", "list", s.list, "queue", q, "entry", e.ID, "attempt", marks.Count, "trace", e.Trace, "err", err)
		if fault.stack == "" && marks.Count < maxMarks {
			if merr := s.mark(ctx, path, marks.Count, marks.Cause); merr != nil {
				return nil, merr
			}
			return nil, fmt.Errorf("stage %s, entry %s: %w", q, e.ID, err)
		}
		return shunted(marks.Cause + fault.stack), nil
	case err != nil:
		return nil, err
	}
	return out, nil // the spool takes the marks off
}

// mark makes a try durable before it begins.
func (s *slice) mark(ctx context.Context, path string, count int, cause string) error {
	m := store.MarkAttempt{Entry: path, Count: count, Cause: cause, At: s.r.cfg.Clock()}
	if err := s.h.Commit(ctx, store.By{Actor: "runner", Reason: "attempt"}, m); err != nil {
		return fmt.Errorf("mark attempt: %w", err)
	}
	return nil
}

// ask runs the stage with a time limit, and turns its panic into an error.
func (s *slice) ask(ctx context.Context, q queue.Name, w *queue.Work) (*queue.Outcome, error) {
	sctx, cancel := context.WithTimeoutCause(ctx, s.r.cfg.Stage, errHang)
	defer cancel()
	type answer struct {
		out *queue.Outcome
		err error
	}
	got := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				got <- answer{err: &stageError{fmt.Errorf("panic: %v", p), "\n" + string(debug.Stack())}}
			}
		}()
		out, err := s.r.cfg.Stages[q].Process(sctx, w)
		got <- answer{out, err}
	}()
	select {
	case a := <-got:
		return a.out, classify(ctx, a.err)
	case <-sctx.Done():
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &stageError{err: errHang}
	case <-s.h.Context().Done():
		return nil, context.Cause(s.h.Context())
	}
}

var errHang = errors.New("the stage took too long")

// classify separates what counts against the entry from what does not.
func classify(ctx context.Context, err error) error {
	var fault *stageError
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case ctx.Err() != nil, errors.Is(err, locking.ErrLost), errors.Is(err, store.ErrFenced), fsys.Trouble(err),
		errors.Is(err, queue.ErrNoStage), errors.Is(err, queue.ErrTrouble):
		return err
	}
	return &stageError{err: err}
}

// shunted parks an entry; the spool adds count and times.
func shunted(cause string) *queue.Outcome {
	return &queue.Outcome{Fate: queue.FateShunt, Reason: cause, Event: "shunted"}
}

func event(host string, o outcome) trace.Event {
	ev := trace.Event{
		Host: host, Trace: o.entry.Trace, MessageID: message.Parse(o.entry.Raw).Get("Message-ID"), List: o.entry.List,
		Entry: o.entry.ID, Queue: o.entry.Queue, Event: o.out.Event, Detail: o.out.Reason,
	}
	if v := o.out.Verdict; v != nil && v.Rule != "" {
		ev.Detail = v.String()
	}
	return ev
}
