package stage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// LoadHeld reads a held post. spool.CorruptError if its file is not what was held.
func LoadHeld(_ context.Context, f fsys.FS, list lists.ID, p store.HeldPost) (*queue.Entry, error) {
	name := path.Join("lists", string(list), "held", p.ID)
	data, err := readHeld(f, name)
	if err != nil {
		return nil, fmt.Errorf("load held post: %w", err)
	}
	if sum := sha256.Sum256(data); p.Sum != "" && hex.EncodeToString(sum[:]) != p.Sum {
		return nil, &spool.CorruptError{Name: name, Why: "its checksum is not the one in the list's log"}
	}
	e, err := spool.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("load held post %s: %w", p.ID, err)
	}
	return e, nil
}

// readHeld reads a held post's file. When the answer to the rename that made its name was
// lost, this client remembers, on v3 for ever, that there is no such name; the change in
// the folder that comes with Listed heals that.
func readHeld(f fsys.FS, name string) ([]byte, error) {
	data, err := fsys.ReadFile(f, name, spool.MaxSize)
	if !fsys.Gone(err) {
		return data, err
	}
	there, lerr := fsys.Listed(f, name)
	if lerr != nil || !there {
		return nil, cmp.Or(lerr, err)
	}
	if data, err = fsys.ReadFile(f, name, spool.MaxSize); fsys.Gone(err) {
		return nil, fmt.Errorf("%w: %s has a name and cannot be opened yet", queue.ErrTrouble, name)
	}
	return data, err
}

// ReleaseHeld lets a held post pass: it goes through the pipeline under a new name.
// by names who decided, for the header and the trace.
func ReleaseHeld(e *queue.Entry, p store.HeldPost, by string) *queue.Outcome {
	c := *e
	c.Queue, c.ID = queue.Pipeline, ""
	c.Meta.Approved, c.Meta.ApprovedBy = true, by
	o := settled(e, p, "released", "let pass by "+by)
	o.Children = []queue.Child{{Entry: &c}}
	return o
}

// Decision says who decided about a held post, and why.
type Decision struct{ By, Why string }

// RejectHeld sends a held post of list l back to its poster with a reason, in the
// poster's language. A person asked for it, so no limit of the day applies.
func (c Config) RejectHeld(ctx context.Context, l *lists.List, e *queue.Entry, p store.HeldPost, d Decision) (*queue.Outcome, error) {
	o := settled(e, p, "rejected", "rejected by "+d.By+": "+d.Why)
	o.Changes = append(o.Changes, unseen(e))
	if m := message.Parse(e.Raw); answerable(e, m) {
		n, err := c.rejection(ctx, l, e, m, d.Why)
		if err != nil {
			return nil, fmt.Errorf("reject held post %s: %w", p.ID, err)
		}
		o.Children = []queue.Child{{Entry: n.entry(e.List)}}
	}
	return o, nil
}

// DiscardHeld drops a held post. e may be nil, if its file cannot be read: then a copy that
// comes again within the window is not judged anew.
func DiscardHeld(e *queue.Entry, p store.HeldPost, by string) *queue.Outcome {
	o := settled(e, p, "discarded", "discarded by "+by)
	if e != nil {
		o.Changes = append(o.Changes, unseen(e))
	}
	return o
}

// Unreadable reports whether LoadHeld failed since the file is damaged or gone, which it
// stays: nothing can become of such a post but DiscardHeld.
func Unreadable(err error) bool {
	return errors.As(err, new(*spool.CorruptError)) || fsys.Gone(err)
}

// settled is what the three have in common.
func settled(e *queue.Entry, p store.HeldPost, event, why string) *queue.Outcome {
	told := queue.Told{Trace: p.Trace, MessageID: p.MessageID, Event: event, Reason: why}
	if e != nil {
		told.Trace, told.MessageID = e.Trace, message.Parse(e.Raw).Get("Message-ID")
	}
	return &queue.Outcome{Event: event, Reason: why, Changes: []store.Change{store.DropHeld{ID: p.ID}}, Told: []queue.Told{told}}
}
