package spool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// maxWriters is how many children are written at a time: fsyncs that overlap cost
// little more than one.
const maxWriters = 8

// writeAll stages an outcome's children, complete and synced. After an error
// nothing of them is left, as far as the share allows.
func (a *Attempt) writeAll(ctx context.Context, e *queue.Entry, children []queue.Child, now time.Time) ([]store.Placed, error) {
	jobs := make([]func() (string, error), len(children))
	placed := make([]store.Placed, len(children))
	for i := range children {
		p, write, err := a.child(ctx, e, &children[i], now)
		if err != nil {
			return nil, err
		}
		placed[i], jobs[i] = p, write
	}
	slots := make(chan struct{}, maxWriters)
	answers := make(chan error, len(jobs))
	for i, write := range jobs {
		slots <- struct{}{}
		go func() {
			sum, err := write()
			placed[i].Sum = sum
			<-slots
			answers <- err
		}()
	}
	var errs []error
	for range jobs {
		errs = append(errs, <-answers)
	}
	if err := errors.Join(errs...); err != nil {
		for _, p := range placed {
			_ = removeTree(a.s.c.FS, path.Join(root, a.stage, p.Staged))
		}
		return nil, err
	}
	return placed, nil
}

// child names one child and says how it is written; write returns its sum.
func (a *Attempt) child(ctx context.Context, parent *queue.Entry, c *queue.Child, now time.Time) (store.Placed, func() (string, error), error) {
	switch {
	case c.Entry != nil:
		a.complete(parent, c.Entry, now)
		p := store.Placed{Staged: string(c.Entry.ID), Target: path.Join(Dir(c.Entry.Queue, c.Entry.List), string(c.Entry.ID))}
		data, err := Encode(c.Entry)
		return p, func() (string, error) { return a.writeFile(p.Staged, data) }, err
	case c.Fanout != nil:
		if c.Fanout.List == "" {
			c.Fanout.List = a.h.ID()
		}
		id := string(a.s.newID(now))
		p := store.Placed{Staged: id, Target: path.Join(Dir(queue.Out, c.Fanout.List), id)}
		return p, func() (string, error) {
			return writeFanout(ctx, a.s.c.FS, path.Join(root, a.stage, id), c.Fanout)
		}, nil
	case c.File != nil:
		if !fs.ValidPath(c.File.Path) || !strings.Contains(c.File.Path, "/") {
			return store.Placed{}, nil, fmt.Errorf("file of a list: bad path %q", c.File.Path)
		}
		a.names++
		p := store.Placed{Staged: fmt.Sprintf("file.%d", a.names), Target: path.Join("lists", string(a.h.ID()), c.File.Path)}
		return p, func() (string, error) { return a.writeFile(p.Staged, c.File.Data) }, nil
	}
	return store.Placed{}, nil, errors.New("child without content")
}

// complete fills what a stage leaves to the spool.
func (a *Attempt) complete(parent, c *queue.Entry, now time.Time) {
	c.ID = a.s.newID(now)
	if c.List == "" {
		c.List = a.h.ID()
	}
	if c.Received.IsZero() {
		c.Received = now.UTC()
	}
	if c.Trace == "" && parent != nil {
		c.Trace = parent.Trace
	}
}

func (a *Attempt) writeFile(staged string, data []byte) (string, error) {
	err := fsys.WriteNew(a.s.c.FS, path.Join(root, a.stage, staged), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return sumOf(data), err
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
