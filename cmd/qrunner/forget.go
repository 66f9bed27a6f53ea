package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/erase"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue/spool"
)

// forgetting is what is being taken off the share.
type forgetting struct {
	h     *house
	note  string
	words erase.Words
	// naming are the changes that take it out of a list's state, files apart; nil: none.
	naming func(*store.State) []store.Change
	// gone says of a post that it goes as a whole, and does not only lose the words.
	gone func(*message.Message) bool
	// held says that held posts which go as a whole are dropped too.
	held bool
	seen func()

	done forgotten
}

// forgotten says what was done.
type forgotten struct {
	Lists   []lists.ID `json:"lists"`   // whose state had it
	Hidden  []string   `json:"hidden"`  // files in which it was written over
	Removed []string   `json:"removed"` // posts that went as a whole
	Left    []string   `json:"left"`    // files that have it still
}

// search looks at everything but backups.
func (f *forgetting) search() erase.Search {
	return erase.Search{FS: f.h.fs, Skip: []string{"backup"}, Seen: f.seen}
}

// run looks through the share, takes out what can be, and looks again.
func (f *forgetting) run(ctx context.Context) error {
	f.done = forgotten{Lists: []lists.ID{}, Hidden: []string{}, Removed: []string{}, Left: []string{}}
	found := map[lists.ID][]string{}
	err := f.search().Find(ctx, ".", f.words, func(name string) error {
		if part := strings.Split(name, "/"); part[0] == "lists" && len(part) > 2 {
			found[lists.ID(part[1])] = append(found[lists.ID(part[1])], name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ids, err := f.h.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("list the lists: %w", err)
	}
	if !slices.Contains(ids, lists.Site) {
		ids = append(ids, lists.Site)
	}
	for _, id := range ids {
		if len(found[id]) == 0 {
			continue
		}
		if err := f.list(ctx, id, found[id]); err != nil && !errors.Is(err, lists.ErrNoList) {
			return fmt.Errorf("list %s: %w", id, err)
		}
	}
	if err := f.traces(ctx); err != nil {
		return err
	}
	return f.search().Find(ctx, ".", f.words, func(name string) error {
		f.done.Left = append(f.done.Left, name)
		return nil
	})
}

// traceDelay is how long a daemon may keep a line of its trace to itself.
const traceDelay = 2 * time.Second

// traces writes over it in the traces, once those have it of what was done until now.
func (f *forgetting) traces(ctx context.Context) error {
	t := time.NewTimer(traceDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return f.search().Find(ctx, "trace", f.words, func(name string) error {
		if _, err := f.words.Blank(f.h.fs, name); err != nil && !fsys.Gone(err) {
			return err
		}
		f.done.Hidden = append(f.done.Hidden, name)
		return nil
	})
}

// list takes it out of one list, under its lock.
func (f *forgetting) list(ctx context.Context, id lists.ID, files []string) error {
	l, err := f.h.store.Lock(ctx, id, f.note)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return f.h.giveBack(ctx, l, f.locked(ctx, l, files))
}

func (f *forgetting) locked(ctx context.Context, l *store.Holder, files []string) error {
	if err := f.h.spool.Recover(ctx, l); err != nil {
		return err
	}
	if err := f.state(ctx, l); err != nil {
		return err
	}
	inState := slices.ContainsFunc(files, func(name string) bool { return strings.HasPrefix(name, l.Folder()+"/") })
	if inState {
		if err := l.Forget(ctx, by(f.note), f.words.Hide); err != nil {
			return err
		}
		f.done.Lists = append(f.done.Lists, l.ID())
	}
	for _, name := range files {
		if strings.HasPrefix(name, path.Join("lists", string(l.ID()), "archive")+"/") {
			if err := f.archived(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// state takes it out of the list's state, and out of the posts that the state names.
func (f *forgetting) state(ctx context.Context, l *store.Holder) error {
	var changes []store.Change
	var spent [][2]string
	if f.naming != nil {
		changes = f.naming(l.State())
	}
	if f.held {
		for _, p := range l.State().Held() {
			if f.words.In([]byte(p.From)) {
				changes = append(changes, store.DropHeld{ID: p.ID})
				spent = append(spent, [2]string{"held", p.ID})
			}
		}
	}
	for _, p := range l.State().Digest().Posts {
		more, err := f.collected(l, p)
		if err != nil {
			return err
		}
		if len(more) > 0 {
			changes = append(changes, more...)
			spent = append(spent, [2]string{"digest", p.ID})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if err := l.Commit(ctx, by(f.note), changes...); err != nil {
		return err
	}
	for _, x := range spent {
		if err := l.DropFile(x[0], x[1]); err != nil {
			return err
		}
		f.done.Removed = append(f.done.Removed, path.Join("lists", string(l.ID()), x[0], x[1]))
	}
	return nil
}

// collected is what becomes of a post that waits for a digest; nothing if it has none of it.
func (f *forgetting) collected(l *store.Holder, p store.DigestPost) ([]store.Change, error) {
	dir := path.Join("lists", string(l.ID()), "digest")
	raw, err := fsys.ReadFile(f.h.fs, path.Join(dir, p.ID), spool.MaxSize)
	if fsys.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read post for digest: %w", err)
	}
	if !f.words.In(raw) {
		return nil, nil
	}
	out := []store.Change{store.DropDigest{ID: p.ID}}
	if f.gone(message.Parse(raw)) {
		return out, nil
	}
	again, err := putAgain(f.h.fs, dir, p, f.words.HideMessage(raw))
	if err != nil {
		return nil, err
	}
	if f.words.In([]byte(p.From)) {
		again.From = ""
	}
	return append(out, store.AddToDigest{Post: again}), nil
}

// archived takes an archived post away, or writes over what is in it.
func (f *forgetting) archived(name string) error {
	gone := false
	changed, err := erase.Rewrite(f.h.fs, name, spool.MaxSize, func(raw []byte) []byte {
		if gone = f.gone(message.Parse(raw)); gone {
			return raw
		}
		return f.words.HideMessage(raw)
	})
	switch {
	case fsys.Gone(err):
		return nil
	case err != nil:
		return err
	case gone:
		f.done.Removed = append(f.done.Removed, name)
		if err := fsys.RemoveAny(f.h.fs, name); err != nil {
			return err
		}
		return fsys.SyncDir(f.h.fs, path.Dir(name))
	case changed:
		f.done.Hidden = append(f.done.Hidden, name)
	}
	return nil
}
