package world

import (
	"context"
	"strings"
	"time"
)

// leftAge is older than anything that is kept for a while.
const leftAge = 25 * time.Hour

// leftPause is between two tries of the administrator; emptyTime is how long the posts
// that he let pass may take.
const (
	leftPause = 30 * time.Second
	emptyTime = time.Hour
)

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Run lets time pass, and glances at everything now and then.
func (w *World) Run(ctx context.Context, d time.Duration) {
	const step = 10 * time.Second
	for d > 0 && ctx.Err() == nil {
		sleep(ctx, min(step, d))
		d -= step
		w.Glance(ctx)
	}
}

// Drain waits until nothing is left to do, at most d. What is left then is a promise
// broken.
func (w *World) Drain(ctx context.Context, d time.Duration) bool {
	const step = 5 * time.Second
	for ; d > 0; d -= step {
		if len(w.Idle()) == 0 && len(w.book.waiting()) == 0 {
			return true
		}
		sleep(ctx, step)
	}
	if left := w.Idle(); len(left) > 0 {
		w.book.broken("does not drain: %s", strings.Join(left[:min(len(left), 8)], " "))
		return false
	}
	return true
}

// Age is how long the World has been there.
func (w *World) Age() time.Duration { return time.Since(w.Log.start) }
