package intake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
	"qrunner/queue/trace"
)

// Spool keeps entries. Put returns when the entry is durable, or with an error if
// that is not certain. It must not change or keep e.Raw after it returned.
type Spool interface {
	Put(ctx context.Context, e *queue.Entry) (queue.ID, error)
}

// Directory knows the lists. Resolve gives lists.ErrNoList only if it is certain
// that no list has the address. Lists is asked for the bare list names of old
// aliases only.
type Directory interface {
	Resolve(ctx context.Context, a mailaddr.Address) (lists.Target, error)
	Lists(ctx context.Context) ([]lists.ID, error)
}

// Config is what New needs.
type Config struct {
	Spool     Spool
	Directory Directory
	// Wake is called after each stored entry; nil: nobody is waiting.
	Wake func(queue.Name, lists.ID)
	// Trace gets one event "received" per stored entry; nil for none. It must not block.
	Trace func(context.Context, trace.Event)
	// Host is our name in the greeting.
	Host string
	// Domain completes bare names in the pipe's arguments and environment; empty:
	// a list's name has to be unique, and a sender without a domain is kept as null.
	Domain string
	Limits Limits
	// Log gets one line per stored entry and per temporary refusal.
	Log *slog.Logger
}

// Intake is the way in. Its methods may be used at the same time.
type Intake struct {
	Config
	door   *door
	memory atomic.Int64 // octets of messages in hand
}

// New makes an Intake. Nothing is touched until a method is called.
func New(c Config) *Intake {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Wake == nil {
		c.Wake = func(queue.Name, lists.ID) {}
	}
	if c.Trace == nil {
		c.Trace = func(context.Context, trace.Event) {}
	}
	return &Intake{Config: c, door: newDoor(c.Limits)}
}

// accept is the enqueue path: one entry per distinct target, under one trace id. It
// calls answer once per target, in order; equal targets share an entry and thus an
// answer. A nil error means that the entry is durable.
func (in *Intake) accept(ctx context.Context, env queue.Envelope, targets []lists.Target, raw []byte, answer func(int, error)) {
	done := make(map[lists.Target]error, len(targets))
	for i, t := range targets {
		err, repeat := done[t]
		if repeat {
			answer(i, err)
			continue
		}
		env.Target = t
		e := &queue.Entry{Queue: queueOf(t), List: t.List, Envelope: env, Raw: raw}
		err = in.put(ctx, e)
		done[t] = err
		answer(i, err)
		if err == nil {
			in.announce(ctx, e)
		}
	}
}

func (in *Intake) put(ctx context.Context, e *queue.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, in.Limits.Store)
	defer cancel()
	id, err := in.Spool.Put(ctx, e)
	if err != nil {
		return fmt.Errorf("store entry for %s: %w", e.Target.Address(), err)
	}
	e.ID = id
	return nil
}

// announce tells of a stored entry. It was answered for by now, so that no fault
// here may look like one of the entry.
func (in *Intake) announce(ctx context.Context, e *queue.Entry) {
	defer func() {
		if p := recover(); p != nil {
			in.Log.Error("announce entry", "entry", e.ID, "trace", e.Envelope.Trace, "err", p)
		}
	}()
	in.Wake(e.Queue, e.List)
	in.Log.Info("stored", "entry", e.ID, "queue", e.Queue, "list", e.List, "trace", e.Envelope.Trace)
	in.Trace(ctx, trace.Event{
		Trace: e.Envelope.Trace, MessageID: message.Parse(e.Raw).Get("Message-ID"), List: e.List, Entry: e.ID, Queue: e.Queue,
		Event: "received", Detail: e.Source + " from <" + string(e.Sender) + ">", Rcpt: string(e.Target.Address()),
	})
}

// resolve asks whose address a is. The answer "nobody's" is passed on only if the
// error shows no trouble beside it.
func (in *Intake) resolve(ctx context.Context, a mailaddr.Address) (lists.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, in.Limits.Store)
	defer cancel()
	t, err := in.Directory.Resolve(ctx, a)
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, lists.ErrNoList) && !doubtful(err):
		return lists.Target{}, errNoList
	}
	return lists.Target{}, fmt.Errorf("resolve %s: %w", a, err)
}

// queueOf is where mail for a target waits.
func queueOf(t lists.Target) queue.Name {
	switch {
	case t.List == lists.Site, t.Sub == lists.SubPost, t.Sub == lists.SubOwner:
		return queue.In
	case t.Sub == lists.SubBounces, t.Sub == lists.SubAdmin: // as with Mailman 2
		return queue.Bounces
	}
	return queue.Command
}

// newTrace makes the id under which a message is followed.
func newTrace() string { return strings.ToLower(rand.Text()) }
