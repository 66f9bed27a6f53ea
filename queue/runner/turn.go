package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/queue"
)

// turn is one time slice at one list. more says that work is left; err is trouble
// that time may mend. A list that another host holds is neither.
func (r *Runner) turn(ctx context.Context, id lists.ID) (more bool, err error) {
	h, err := r.cfg.Store.TryLock(ctx, id, "runner")
	switch {
	case errors.Is(err, locking.ErrHeld), ctx.Err() != nil && err != nil:
		return false, nil
	case errors.Is(err, lists.ErrNoList):
		return false, r.unknownList(ctx, id)
	case err != nil:
		return false, fmt.Errorf("take list %s: %w", id, err)
	}
	// Work in hand outlives ctx: it ends with the lease or after the drain time.
	wctx, cancel := r.drain(ctx)
	defer cancel()
	t := &slice{r: r, h: h, list: id, careful: h.Unclean(), ends: time.Now().Add(r.cfg.Slice), left: map[queue.ID]error{}}
	more, err = t.run(ctx, wctx)
	if rerr := r.cfg.Spool.Release(wctx, h); err == nil && rerr != nil && !errors.Is(rerr, locking.ErrLost) {
		err = fmt.Errorf("release list %s: %w", id, rerr)
	}
	if ctx.Err() != nil || errors.Is(err, locking.ErrLost) || errors.Is(err, store.ErrFenced) {
		if err != nil {
			r.cfg.Log.WarnContext(ctx, "list taken over by another host", "list", id, "err", err)
		}
		return false, nil // whoever has the list now goes on
	}
	return more, err
}

// drain is ctx without its end, which comes cfg.Drain later.
func (r *Runner) drain(ctx context.Context) (context.Context, context.CancelFunc) {
	wctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(r.cfg.Drain, func() { cancel(errDrained) })
		context.AfterFunc(wctx, func() { timer.Stop() })
	})
	return wctx, func() {
		stop()
		cancel(nil)
	}
}

var errDrained = errors.New("the drain time is over")
