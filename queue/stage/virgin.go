package stage

import (
	"context"
	"fmt"

	"qrunner/lists/handlers"
	"qrunner/queue"
)

// virgin sends mail that qrunner itself wrote: to whom the entry says, or else to the
// owners. Whoever wrote it chose the envelope sender.
type virgin struct{ c Config }

// Process implements queue.Processor.
func (s *virgin) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	p := s.c.post(w)
	p.Recipients = w.Entry.Meta.Recipients
	if err := handlers.RunNotice(ctx, p); err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	if len(p.Recipients) == 0 {
		return nobody("a notice for the owners: the list has none, and the site names none"), nil
	}
	f := fanout(w, p)
	f.Bounces = w.Entry.Sender
	f.UTF8 = w.Entry.UTF8
	return &queue.Outcome{Event: "sent", Reason: "notice", Children: []queue.Child{{Fanout: f}}}, nil
}
