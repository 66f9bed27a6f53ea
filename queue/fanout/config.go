package fanout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"qrunner/lists"
	"qrunner/lists/templates"
	"qrunner/locking"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/retry"
	"qrunner/queue/trace"
)

// Config is what a Sender needs. FS, Locker, Transport, Roster, Put, Host, Clock and
// Log must be set.
type Config struct {
	FS        fsys.FS
	Locker    locking.Locker
	Transport queue.Transport
	// Roster gives a list's people as they are now; at a retry, members who have
	// left get nothing more. While it fails they are deferred.
	Roster func(ctx context.Context, id lists.ID) (lists.Roster, error)
	// Copies makes the copies of a fan-out that differ (nil, and no error: they are all
	// alike); its errors leave the fan-out for later.
	Copies func(ctx context.Context, f *queue.Fanout) (queue.Copier, error)
	// Put makes an entry in a queue, for notices to the site owner.
	Put func(ctx context.Context, e *queue.Entry) (queue.ID, error)
	// Trace gets one event per recipient; nil for none. It must not block.
	Trace func(ctx context.Context, e trace.Event)
	// Published is told of a list that got an entry in a queue; nil for nobody.
	Published func(q queue.Name, id lists.ID)
	// Text is a notice to people of a list, in the list's language; nil: what is built in.
	Text func(ctx context.Context, id lists.ID, name templates.Name, vars templates.Vars) (templates.Text, error)
	// Host is this host's short name, Clock its opinion of the time; times in
	// journals and names are the server's.
	Host  string
	Clock clock.Clock
	Log   *slog.Logger
	// Policy says when a recipient is tried again.
	Policy retry.Policy
	// BatchSize is how many recipients one claim covers (default 1,000). It is part
	// of the format: all hosts of a share must have the same, or leave each
	// other's fan-outs alone.
	BatchSize int
	// Workers is how many claims are worked on at the same time (default 4); with
	// more than one, one is kept for notices. Conns is how many connections one
	// claim uses at most (default 16).
	Workers, Conns int
	// Poll is the time between two walks of the queue (default 1 s, jittered by a
	// third), Drain how long a transaction in flight may go on after the context
	// has ended (30 s), Lifetime how long a claim lasts without a refresh (300 s).
	Poll, Drain, Lifetime time.Duration
	// Slice is how long a claim begins transactions while other lists have mail to send
	// (default 10 s): then it is their turn, and the range goes on later.
	Slice time.Duration
}

func (c Config) withDefaults() Config {
	c.BatchSize = cmp.Or(c.BatchSize, 1000)
	c.Workers = cmp.Or(c.Workers, 4)
	c.Conns = cmp.Or(c.Conns, 16)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.Slice = cmp.Or(c.Slice, 10*time.Second)
	c.Lifetime = cmp.Or(c.Lifetime, 300*time.Second)
	if c.Copies == nil {
		c.Copies = func(_ context.Context, f *queue.Fanout) (queue.Copier, error) {
			if f.Copies.Differ() {
				return nil, errors.New("nobody here can make copies that differ")
			}
			return nil, nil
		}
	}
	if c.Trace == nil {
		c.Trace = func(context.Context, trace.Event) {}
	}
	if c.Text == nil {
		c.Text = builtin
	}
	if c.Published == nil {
		c.Published = func(queue.Name, lists.ID) {}
	}
	return c
}

// builtin renders for a list of which nothing is known.
func builtin(ctx context.Context, id lists.ID, name templates.Name, vars templates.Vars) (templates.Text, error) {
	return (&templates.Set{}).Render(ctx, &lists.List{ID: id, Settings: lists.Resolve()}, name, "", vars)
}
