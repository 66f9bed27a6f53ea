package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Attempt is one commit in the making: entries of one list, what becomes of them,
// and the children staged so far. For one goroutine.
type Attempt struct {
	s       *Spool
	h       *store.Holder
	stage   string // its folder, below queue/
	made    bool   // the folder is there
	hand    []store.Handover
	changes []store.Change
	names   int // of staged files that are no entries
	spent   bool
}

// errSpent: an attempt is committed once, whatever comes of it.
var errSpent = errors.New("attempt was committed already")

// ErrHandedOver: the entry was handed over by an earlier commit. It is not to be
// processed again; Recover carries out what is left of the hand-over.
var ErrHandedOver = errors.New("entry is handed over already")

// NewAttempt begins an attempt under h.
func (s *Spool) NewAttempt(h *store.Holder) *Attempt {
	name := stageName{h.State().Incarnation(), h.Token(), s.tries.Add(1)}
	return &Attempt{s: s, h: h, stage: path.Join("stage", string(h.ID()), name.String())}
}

// Add stages what shall become of e: the outcome's children; with queue.FateShunt,
// e itself too, with its cause. Child entries get their names here (ID is filled;
// Queue must be set, an empty List means h's). With e nil the outcome has no source
// (a digest that is due, a held message let go). After an error e is not part of
// the attempt; the attempt goes on without it.
func (a *Attempt) Add(ctx context.Context, e *queue.Entry, o *queue.Outcome) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stage outcome: %w", err)
	}
	ho := store.Handover{Entry: fmt.Sprintf("%s/%s/%d", noSource, path.Base(a.stage), len(a.hand)), Stage: a.stage}
	if e != nil {
		ho.Entry = Key(e.Queue, e.List, e.ID)
	}
	now, err := a.begin(ho.Entry)
	if err != nil {
		return fmt.Errorf("stage outcome of %s: %w", ho.Entry, err)
	}
	children := o.Children
	if o.Fate == queue.FateShunt && e != nil {
		children = append(children[:len(children):len(children)], queue.Child{Entry: a.shunted(e, o.Reason, now)})
	}
	if ho.Children, err = a.writeAll(ctx, e, children, now); err != nil {
		return fmt.Errorf("stage outcome of %s: %w", ho.Entry, err)
	}
	a.take(ho, o.Changes)
	return nil
}

// AddBad moves what lies under id in a queue of a list, and could not be read as an
// entry (*CorruptError), to bad/, unchanged but for its name, which is returned.
func (a *Attempt) AddBad(ctx context.Context, q queue.Name, list lists.ID, id queue.ID) (queue.ID, error) {
	key := Key(q, list, id)
	now, err := a.begin(key)
	if err != nil {
		return "", fmt.Errorf("move %s to bad: %w", key, err)
	}
	name := a.s.newID(now)
	target := path.Join(Dir(queue.Bad, list), string(name))
	a.take(store.Handover{Entry: key, Keep: true, Stage: a.stage, Children: []store.Placed{{Staged: key, Target: target}}}, nil)
	a.s.c.Log.ErrorContext(ctx, "not readable as an entry, goes to bad", "queue", q, "list", list, "entry", id, "bad", target)
	return name, nil
}

// AddMove puts e into another queue under a new name: `shunt replay`, `queue move`.
// What shunt had noted is taken off. It returns the new name.
func (a *Attempt) AddMove(ctx context.Context, e *queue.Entry, to queue.Name) (queue.ID, error) {
	c := *e
	c.Queue = to
	c.Meta.Cause, c.Meta.Count, c.Meta.From = "", 0, ""
	c.Meta.First, c.Meta.Last = time.Time{}, time.Time{}
	err := a.Add(ctx, e, &queue.Outcome{Children: []queue.Child{{Entry: &c}}})
	return c.ID, err
}

// Len is how many outcomes the attempt has.
func (a *Attempt) Len() int { return len(a.hand) }

// begin refuses an entry that was handed over, makes the stage folder and returns
// the server's time.
func (a *Attempt) begin(key string) (time.Time, error) {
	if a.spent {
		return time.Time{}, errSpent
	}
	for _, list := range [][]store.Handover{a.h.State().Handovers(), a.hand} {
		for _, ho := range list {
			if ho.Entry == key {
				return time.Time{}, ErrHandedOver
			}
		}
	}
	dir := path.Join(root, a.stage)
	if !a.made {
		if err := fsys.MkdirAll(a.s.c.FS, dir); err != nil {
			return time.Time{}, err
		}
		a.made = true
	}
	now, _, err := fsys.ServerNow(a.s.c.FS, dir)
	return now, err
}

// take makes a staged outcome part of the attempt.
func (a *Attempt) take(ho store.Handover, changes []store.Change) {
	a.hand = append(a.hand, ho)
	a.changes = append(a.changes, changes...)
	if _, marked := a.h.State().Attempt(ho.Entry); marked {
		a.changes = append(a.changes, store.ClearAttempt{Entry: ho.Entry})
	}
}

// shunted is e as it stands in shunt/.
func (a *Attempt) shunted(e *queue.Entry, cause string, now time.Time) *queue.Entry {
	c := *e
	c.Queue, c.Meta.From, c.Meta.Cause = queue.Shunt, e.Queue, cause
	c.Meta.Count, c.Meta.First, c.Meta.Last = 1, now, now
	if m, ok := a.h.State().Attempt(Key(e.Queue, e.List, e.ID)); ok {
		c.Meta.Count, c.Meta.First = m.Count, m.First
	}
	return &c
}
