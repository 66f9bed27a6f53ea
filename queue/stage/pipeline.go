package stage

import (
	"context"

	"qrunner/queue"
)

// pipeline distributes posts that were held and let pass.
type pipeline struct{ c Config }

// Process implements queue.Processor.
func (s *pipeline) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	if !w.Entry.Meta.Approved {
		return &queue.Outcome{Fate: queue.FateShunt, Event: "shunted", Reason: "it is in the queue pipeline, but nobody approved it"}, nil
	}
	return s.c.accept(ctx, w, letPass(w.Entry.Meta.ApprovedBy))
}
